// Takes an HTTP/1.1 response apart as its bytes arrive: status, the headers that matter, and a body
// by length, in chunks, or up to the end of the connection.
//
// Threads: an object belongs to one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hotspan::agent {

class HttpResponseReader {
 public:
  void Add(std::string_view bytes);
  // The connection ended: that completes a body without a length.
  void End();

  bool started() const { return started_; }
  // Complete, or `error` says why it never will be.
  bool done() const { return done_; }
  const std::string& error() const { return error_; }
  int status() const { return status_; }
  bool keep_alive() const { return keep_alive_; }
  const std::string& retry_after() const { return retry_after_; }
  std::string TakeBody() { return std::move(body_); }

 private:
  enum class Part { kHead, kSized, kUntilEnd, kChunkSize, kChunk, kTrailer };

  // Each consumes from pending_; false when more bytes are needed or all is done.
  bool Step();
  bool StepHead();
  bool StepSized();
  bool StepChunkSize();
  bool StepTrailer();
  std::optional<std::string> TakeLine();
  void ParseHead(std::string_view head);
  void ParseHeader(std::string_view name, std::string_view value);
  void Fail(std::string_view error);
  void TakeBodyBytes(std::size_t size);

  Part part_ = Part::kHead;
  bool started_ = false;
  bool done_ = false;
  bool keep_alive_ = true;
  bool chunked_ = false;
  int status_ = 0;
  std::optional<std::size_t> length_;
  std::size_t left_ = 0;  // of the body or chunk
  std::string error_;
  std::string retry_after_;
  std::string pending_;
  std::string body_;
};

}  // namespace hotspan::agent

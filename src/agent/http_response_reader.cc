#include "agent/http_response_reader.h"

#include <algorithm>
#include <charconv>

#include "base/limits.h"

namespace hotspan::agent {
namespace {

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::size_t> ParseSize(std::string_view text, int base) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return size;
}

}  // namespace

void HttpResponseReader::Add(std::string_view bytes) {
  started_ = started_ || !bytes.empty();
  pending_ += bytes;
  while (!done_ && Step()) {
  }
}

void HttpResponseReader::End() {
  keep_alive_ = false;
  if (part_ == Part::kUntilEnd) done_ = true;
}

bool HttpResponseReader::Step() {
  switch (part_) {
    case Part::kHead:
      return StepHead();
    case Part::kSized:
      return StepSized();
    case Part::kUntilEnd:
      TakeBodyBytes(pending_.size());
      return false;
    case Part::kChunkSize:
      return StepChunkSize();
    case Part::kChunk:
      TakeBodyBytes(std::min(left_, pending_.size()));
      if (left_ > 0) return false;
      part_ = Part::kChunkSize;
      return true;
    case Part::kTrailer:
      return StepTrailer();
  }
  return false;
}

bool HttpResponseReader::StepHead() {
  const std::size_t end = pending_.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (pending_.size() > limits::kAgentResponseHeadBytesMax) Fail("response head too long");
    return false;
  }
  const std::string head = pending_.substr(0, end + 2);
  pending_.erase(0, end + 4);
  ParseHead(head);
  if (done_) return false;
  if (status_ >= 100 && status_ < 200) return true;  // an interim answer; the real one follows
  if (status_ == 204 || status_ == 304) {
    done_ = true;
  } else if (chunked_) {
    part_ = Part::kChunkSize;
  } else if (length_) {
    part_ = Part::kSized;
    left_ = *length_;
    if (left_ > limits::kAgentResponseBodyBytesMax) Fail("response body too long");
  } else {
    part_ = Part::kUntilEnd;
    keep_alive_ = false;
  }
  return !done_;
}

bool HttpResponseReader::StepSized() {
  TakeBodyBytes(std::min(left_, pending_.size()));
  if (left_ == 0) done_ = true;
  return false;
}

bool HttpResponseReader::StepChunkSize() {
  std::optional<std::string> line = TakeLine();
  // The line end behind the chunk before.
  if (line && line->empty()) line = TakeLine();
  if (!line) return false;
  const std::string_view text(*line);
  const auto size = ParseSize(Trim(text.substr(0, text.find(';'))), 16);
  if (!size) {
    Fail("bad chunk size");
    return false;
  }
  left_ = *size;
  part_ = left_ == 0 ? Part::kTrailer : Part::kChunk;
  return true;
}

bool HttpResponseReader::StepTrailer() {
  const std::optional<std::string> line = TakeLine();
  if (!line) return false;
  if (line->empty()) done_ = true;
  return !done_;
}

std::optional<std::string> HttpResponseReader::TakeLine() {
  const std::size_t end = pending_.find("\r\n");
  if (end == std::string::npos) {
    if (pending_.size() > limits::kAgentResponseHeadBytesMax) Fail("response line too long");
    return std::nullopt;
  }
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 2);
  return line;
}

void HttpResponseReader::ParseHead(std::string_view head) {
  length_.reset();
  chunked_ = false;
  const std::size_t status_end = head.find("\r\n");
  const std::string_view status_line = head.substr(0, status_end);
  const auto status =
      ParseSize(status_line.substr(std::min<std::size_t>(9, status_line.size())).substr(0, 3), 10);
  if (!status_line.starts_with("HTTP/1.") || !status || *status < 100 || *status > 599) {
    Fail("not an HTTP/1 response");
    return;
  }
  status_ = static_cast<int>(*status);
  keep_alive_ = status_line[7] == '1';
  head.remove_prefix(status_end + 2);
  while (!head.empty() && !done_) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    ParseHeader(line.substr(0, colon), Trim(line.substr(colon + 1)));
  }
}

void HttpResponseReader::ParseHeader(std::string_view name, std::string_view value) {
  if (SameIgnoringCase(name, "content-length")) {
    length_ = ParseSize(value, 10);
    if (!length_) Fail("bad content length");
  } else if (SameIgnoringCase(name, "transfer-encoding")) {
    chunked_ = SameIgnoringCase(value, "chunked");
    if (!chunked_) Fail("unknown transfer encoding");
  } else if (SameIgnoringCase(name, "connection")) {
    if (SameIgnoringCase(value, "close")) keep_alive_ = false;
  } else if (SameIgnoringCase(name, "retry-after")) {
    retry_after_ = value;
  }
}

void HttpResponseReader::Fail(std::string_view error) {
  error_ = error;
  keep_alive_ = false;
  done_ = true;
}

void HttpResponseReader::TakeBodyBytes(std::size_t size) {
  if (body_.size() + size > limits::kAgentResponseBodyBytesMax) {
    Fail("response body too long");
    return;
  }
  body_.append(pending_, 0, size);
  pending_.erase(0, size);
  left_ -= std::min(left_, size);
}

}  // namespace hotspan::agent

// HTTP/1.1 on one connection, plain or inside TLS: reads requests one after the other, bounded in
// size and time, and writes the handler's answers.
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <memory>
#include <optional>
#include <type_traits>

#include "serve/http/relay.h"
#include "serve/http/server_state.h"

namespace hotspan::serve {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace {

using TlsStream = beast::ssl_stream<TcpStream>;
constexpr std::size_t kHeaderBytesMax = 32u << 10;

template <typename Stream>
class Session final : public Connection, public std::enable_shared_from_this<Session<Stream>> {
 public:
  Session(std::shared_ptr<ServerShared> shared, Stream stream, Port port)
      : shared_(std::move(shared)),
        stream_(std::move(stream)),
        executor_(beast::get_lowest_layer(stream_).get_executor()),
        port_(port) {
    shared_->Register(this);
  }
  ~Session() override {
    ReleaseBody();
    shared_->Unregister(this);
    shared_->Leave();
  }

  void Start() {
    asio::dispatch(executor_, [self = this->shared_from_this()] { self->ReadHeader(true); });
  }

  void Close(bool now) override {
    if (auto self = this->weak_from_this().lock()) {
      const auto executor = executor_;
      asio::post(executor, [self = std::move(self), now] {
        self->closing_ = true;
        if (now || self->idle_) self->Shutdown();
      });
    }
  }

 private:
  using Parser = http::request_parser<http::string_body>;
  using Message = http::response<http::string_body>;

  TcpStream& Lowest() { return beast::get_lowest_layer(stream_); }

  void Shutdown() {
    boost::system::error_code ignored;
    Lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    Lowest().close();
  }

  void ReadHeader(bool first) {
    if (closing_) return Shutdown();
    parser_.emplace();
    parser_->header_limit(kHeaderBytesMax);
    parser_->body_limit(shared_->options.body_bytes_max);
    const ServerOptions& options = shared_->options;
    idle_ = buffer_.size() == 0;
    Lowest().expires_after(first || !idle_ ? options.header_timeout : options.idle_timeout);
    if (!idle_) return ReadRestOfHeader();
    // Idle until a byte comes; from then on the header has its own deadline.
    stream_.async_read_some(
        buffer_.prepare(4096),
        [self = this->shared_from_this()](boost::system::error_code error, std::size_t size) {
          if (error) return self->Shutdown();
          self->buffer_.commit(size);
          self->idle_ = false;
          self->Lowest().expires_after(self->shared_->options.header_timeout);
          self->ReadRestOfHeader();
        });
  }

  void ReadRestOfHeader() {
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](boost::system::error_code error, std::size_t) {
          if (error) return self->Refuse(error);
          self->OnHeader();
        });
  }

  void OnHeader() {
    const auto length = parser_->content_length();
    Lowest().expires_after(shared_->options.body_timeout);
    if (length && !Reserve(*length)) return RefuseOverload();
    if (beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
      continue_.result(http::status::continue_);
      continue_.version(11);
      http::async_write(
          stream_, continue_,
          [self = this->shared_from_this()](boost::system::error_code error, std::size_t) {
            if (error) return self->Shutdown();
            self->ReadBody();
          });
      return;
    }
    ReadBody();
  }

  void ReadBody() {
    if (parser_->is_done()) return Dispatch();
    http::async_read_some(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](boost::system::error_code error, std::size_t) {
          if (error) return self->Refuse(error);
          const std::uint64_t size = self->parser_->get().body().size();
          if (size > self->reserved_ && !self->Reserve(size - self->reserved_)) {
            return self->RefuseOverload();
          }
          self->ReadBody();
        });
  }

  bool Reserve(std::uint64_t bytes) {
    if (!shared_->ReserveBytes(bytes)) return false;
    reserved_ += bytes;
    return true;
  }
  void ReleaseBody() {
    if (reserved_ > 0) shared_->ReleaseBytes(reserved_);
    reserved_ = 0;
  }

  void Dispatch() {
    auto& message = parser_->get();
    Request request;
    request.method = std::string(message.method_string());
    request.port = port_;
    for (const auto& field : message) {
      request.headers.emplace_back(ToLowerAscii(std::string_view(field.name_string())),
                                   std::string(field.value()));
    }
    keep_alive_ = message.keep_alive();
    version_ = message.version();
    head_ = message.method() == http::verb::head;
    request.body = std::move(message.body());
    const std::string target(message.target());
    if (!target.starts_with('/') && !(target == "*" && request.method == "OPTIONS")) {
      return Write(TextResponse(400, "the request target must begin with /\n"));
    }
    if (!SetTarget(request, target)) {
      return Write(TextResponse(400, "broken percent-encoding in the query\n"));
    }
    Lowest().expires_never();
    auto answer = [self = this->shared_from_this()](Response response) {
      auto moved = std::make_shared<Response>(std::move(response));
      asio::post(self->executor_, [self, moved] { self->Write(std::move(*moved)); });
    };
    shared_->handler(std::move(request), std::move(answer));
  }

  void Refuse(boost::system::error_code error) {
    keep_alive_ = false;
    head_ = false;
    if (error == http::error::body_limit) {
      return Write(TextResponse(413, "the body is larger than " +
                                         std::to_string(shared_->options.body_bytes_max) +
                                         " bytes\n"));
    }
    if (error == http::error::header_limit) {
      return Write(TextResponse(431, "the headers are larger than 32768 bytes\n"));
    }
    if (error == beast::error::timeout) return Shutdown();
    const bool ours = error.category() == http::make_error_code(http::error::bad_method).category();
    if (!ours || error == http::error::end_of_stream || error == http::error::partial_message) {
      return Shutdown();
    }
    Write(TextResponse(400, "not a valid HTTP request: " + error.message() + "\n"));
  }

  void RefuseOverload() {
    keep_alive_ = false;
    head_ = false;
    Response response = TextResponse(503, "too many bytes of requests in flight, try again\n");
    response.headers.emplace_back("Retry-After", "1");
    Write(std::move(response));
  }

  void Write(Response response) {
    ReleaseBody();
    if (closing_) keep_alive_ = false;
    answer_ = Message(static_cast<http::status>(response.status), version_);
    answer_.keep_alive(keep_alive_);
    if (!response.content_type.empty()) {
      answer_.set(http::field::content_type, response.content_type);
    }
    for (const auto& [name, value] : response.headers) answer_.insert(name, value);
    const bool empty = response.status == 204 || response.status == 304;
    if (!empty) answer_.content_length(response.body.size());
    if (!head_ && !empty) answer_.body() = std::move(response.body);
    Lowest().expires_after(shared_->options.body_timeout);
    http::async_write(
        stream_, answer_,
        [self = this->shared_from_this()](boost::system::error_code error, std::size_t) {
          if (error) return self->Shutdown();
          if (!self->keep_alive_) return self->Linger();
          self->ReadHeader(false);
        });
  }

  // Reads away what the client still sends for a moment, so that it sees the answer and no reset.
  void Linger() {
    boost::system::error_code ignored;
    if constexpr (std::is_same_v<Stream, TcpStream>) {
      Lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    }
    Lowest().expires_after(std::chrono::seconds(2));
    Drain(16);
  }
  void Drain(int rounds) {
    if (rounds == 0) return Shutdown();
    buffer_.clear();
    stream_.async_read_some(
        buffer_.prepare(64u << 10),
        [self = this->shared_from_this(), rounds](boost::system::error_code error, std::size_t) {
          if (error) return self->Shutdown();
          self->Drain(rounds - 1);
        });
  }

  const std::shared_ptr<ServerShared> shared_;
  Stream stream_;
  const TcpStream::executor_type executor_;
  const Port port_;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  http::response<http::empty_body> continue_;
  Message answer_;
  std::uint64_t reserved_ = 0;
  unsigned version_ = 11;
  bool keep_alive_ = true;
  bool head_ = false;
  bool idle_ = false;
  bool closing_ = false;
};

// The handshake, after which a Session or a relay to gRPC has the stream.
class Handshake final : public Connection, public std::enable_shared_from_this<Handshake> {
 public:
  Handshake(std::shared_ptr<ServerShared> shared, TcpSocket socket, Port port)
      : shared_(std::move(shared)),
        stream_(TcpStream(std::move(socket)), *shared_->tls),
        executor_(beast::get_lowest_layer(stream_).get_executor()),
        port_(port) {
    shared_->Register(this);
  }
  ~Handshake() override {
    shared_->Unregister(this);
    if (!handed_on_) shared_->Leave();
  }

  void Start() {
    asio::dispatch(executor_, [self = shared_from_this()] { self->Begin(); });
  }

  void Close(bool) override {
    if (auto self = weak_from_this().lock()) {
      const auto executor = executor_;
      asio::post(executor, [self = std::move(self)] {
        if (!self->handed_on_) beast::get_lowest_layer(self->stream_).close();
      });
    }
  }

 private:
  void Begin() {
    beast::get_lowest_layer(stream_).expires_after(shared_->options.header_timeout);
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = shared_from_this()](boost::system::error_code error) {
                              if (!error) self->Done();
                            });
  }

  void Done() {
    const unsigned char* protocol = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(stream_.native_handle(), &protocol, &size);
    const std::string_view chosen(reinterpret_cast<const char*>(protocol), size);
    handed_on_ = true;
    if (chosen == "h2") {
      RelayToGrpc(shared_, std::move(stream_));
      return;
    }
    std::make_shared<Session<TlsStream>>(shared_, std::move(stream_), port_)->Start();
  }

  const std::shared_ptr<ServerShared> shared_;
  TlsStream stream_;
  const TcpStream::executor_type executor_;
  const Port port_;
  bool handed_on_ = false;
};

}  // namespace

void ServeHttp1(std::shared_ptr<ServerShared> shared, TcpSocket socket, Port port) {
  std::make_shared<Session<TcpStream>>(std::move(shared), TcpStream(std::move(socket)), port)
      ->Start();
}

void ServeTls(std::shared_ptr<ServerShared> shared, TcpSocket socket, Port port) {
  std::make_shared<Handshake>(std::move(shared), std::move(socket), port)->Start();
}

}  // namespace hotspan::serve

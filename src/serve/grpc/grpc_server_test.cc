#include "serve/grpc/grpc_server.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "serve/http/server.h"

namespace hotspan::serve {
namespace {

// A self-signed certificate of localhost and its key, as two PEM files.
void WriteCertificate(const std::string& certificate_file, const std::string& key_file) {
  EVP_PKEY* key = EVP_RSA_gen(2048);
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  const auto* host = reinterpret_cast<const unsigned char*>("localhost");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, host, -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_EXTENSION* names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost");
  X509_add_ext(certificate, names, -1);
  X509_sign(certificate, key, EVP_sha256());
  std::FILE* file = std::fopen(certificate_file.c_str(), "w");
  PEM_write_X509(file, certificate);
  std::fclose(file);
  file = std::fopen(key_file.c_str(), "w");
  PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  X509_EXTENSION_free(names);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

// A real gRPC client over the port that also speaks HTTP/1.1.
class GrpcServerTest : public testing::Test {
 protected:
  void Begin(GrpcHandler handler, std::size_t message_bytes_max = 1 << 20,
             const ServerOptions& options = {}) {
    grpc_.emplace(std::move(handler), message_bytes_max);
    ASSERT_TRUE(grpc_->Start());
    server_.emplace(
        options, [](Request, Respond respond) { respond(TextResponse(200, "http")); },
        [this](int descriptor) { grpc_->Adopt(descriptor); });
    const auto bound = server_->Listen("127.0.0.1:0", Port::kMain);
    ASSERT_TRUE(bound);
    ASSERT_TRUE(server_->Start());
    address_ = *bound;
    channel_ = grpc::CreateChannel(*bound, grpc::InsecureChannelCredentials());
  }
  void TearDown() override {
    channel_.reset();
    server_.reset();
    grpc_.reset();
  }

  grpc::Status Call(const std::string& method, const std::string& message, std::string* answer,
                    grpc_compression_algorithm compression = GRPC_COMPRESS_NONE) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_compression_algorithm(compression);
    const grpc::Slice slice(message);
    grpc::ByteBuffer request(&slice, 1);
    grpc::CompletionQueue queue;
    auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
    call->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    call->Finish(&response, &status, this);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    std::vector<grpc::Slice> slices;
    if (status.ok() && answer != nullptr && response.Dump(&slices).ok()) {
      for (const grpc::Slice& part : slices) {
        answer->append(reinterpret_cast<const char*>(part.begin()), part.size());
      }
    }
    return status;
  }

  std::string address_;
  std::optional<GrpcServer> grpc_;
  std::optional<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(GrpcServerTest, AnswersRawBytesOnTheSharedPort) {
  Begin([](GrpcCall call, GrpcRespond respond) {
    respond({0, {}, call.method + "|" + call.message + "|" + call.encoding, 0});
  });
  std::string answer;
  EXPECT_TRUE(Call("/a.B/C", "hello", &answer).ok());
  EXPECT_EQ(answer, "/a.B/C|hello|");
}

TEST_F(GrpcServerTest, LeavesInflatingToTheHandler) {
  std::string encoding;
  std::size_t size = 0;
  Begin([&](GrpcCall call, GrpcRespond respond) {
    encoding = call.encoding;
    size = call.message.size();
    respond({});
  });
  EXPECT_TRUE(Call("/a.B/C", std::string(100'000, 'x'), nullptr, GRPC_COMPRESS_GZIP).ok());
  EXPECT_EQ(encoding, "gzip");
  EXPECT_LT(size, 2000u);
  EXPECT_TRUE(Call("/a.B/C", std::string(100'000, 'x'), nullptr, GRPC_COMPRESS_DEFLATE).ok());
  EXPECT_EQ(encoding, "deflate");
}

TEST_F(GrpcServerTest, CarriesErrorsAndRetryInfo) {
  Begin([](GrpcCall, GrpcRespond respond) { respond({8, "too much", {}, 3}); });
  const grpc::Status status = Call("/a.B/C", "x", nullptr);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status.error_message(), "too much");
  EXPECT_NE(status.error_details().find("google.rpc.RetryInfo"), std::string::npos);
}

TEST_F(GrpcServerTest, AnswersInsideOfTlsOnTheSharedPort) {
  const std::string base = testing::TempDir() + "hotspan_tls_" + std::to_string(::getpid());
  ServerOptions options;
  options.tls_certificate = base + ".crt";
  options.tls_key = base + ".key";
  WriteCertificate(options.tls_certificate, options.tls_key);
  Begin([](GrpcCall call, GrpcRespond respond) { respond({0, {}, call.message, 0}); }, 1 << 22,
        options);
  std::stringstream certificate;
  certificate << std::ifstream(options.tls_certificate).rdbuf();
  grpc::SslCredentialsOptions trust;
  trust.pem_root_certs = certificate.str();
  channel_ = grpc::CreateChannel("localhost" + address_.substr(address_.rfind(':')),
                                 grpc::SslCredentials(trust));
  // More than a relay's buffers, both ways.
  const std::string message(1'000'000, 'x');
  std::string answer;
  const grpc::Status status = Call("/a.B/C", message, &answer);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(answer, message);
  std::remove(options.tls_certificate.c_str());
  std::remove(options.tls_key.c_str());
}

TEST_F(GrpcServerTest, RefusesMessagesOverTheLimit) {
  Begin([](GrpcCall, GrpcRespond respond) { respond({}); }, 1000);
  EXPECT_EQ(Call("/a.B/C", std::string(2000, 'x'), nullptr).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(Call("/a.B/C", std::string(500, 'x'), nullptr).ok());
}

}  // namespace
}  // namespace hotspan::serve

// import: files of traces and profiles, told apart by content, sent to the server's own endpoints.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/limits.h"
#include "cli/cli.h"
#include "cli/file_kind.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/verbs.h"
#include "wire/inflate/inflate.h"

namespace hotspan::cli {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{2} << 30;

Result<std::string> ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(Code::kNotFound, "can't open " + path);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad() || bytes.size() > kFileBytesMax) {
    return Fail(Code::kInvalidArgument, "can't read " + path + ", or it is over 2 GiB");
  }
  if (wire::IsGzip(bytes)) return wire::Inflate(bytes, "gzip", kFileBytesMax);
  return bytes;
}

// Stacks and pprof name no service: without --service the file's own name stands for it.
std::string ServiceOf(const ImportOptions& options, const std::string& path) {
  if (!options.service.empty()) return options.service;
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find('.', 1));
}

struct Call CallFor(FileKind kind, const ImportOptions& options, const std::string& path) {
  struct Call call;
  call.method = "POST";
  const bool json = kind == FileKind::kTracesJson || kind == FileKind::kProfilesJson;
  call.content_type = json ? "application/json" : "application/x-protobuf";
  switch (kind) {
    case FileKind::kTracesProto:
    case FileKind::kTracesJson:
      call.target = "/v1/traces";
      break;
    case FileKind::kProfilesProto:
    case FileKind::kProfilesJson:
      call.target = "/v1development/profiles";
      break;
    default:
      call.content_type = kind == FileKind::kPprof ? "application/octet-stream" : "text/plain";
      call.target = Target("/ingest", {{"name", ServiceOf(options, path)}});
  }
  return call;
}

// The messages of a file: JSON files may hold one a line, as the Collector's file exporter writes.
std::vector<std::string> MessagesOf(FileKind kind, std::string bytes) {
  const bool json = kind == FileKind::kTracesJson || kind == FileKind::kProfilesJson;
  const std::size_t end = bytes.find('\n');
  std::vector<std::string> messages;
  simdjson::dom::parser parser;
  Json first;
  if (!json || end == std::string::npos || !ParseJson(parser, bytes.substr(0, end), first)) {
    messages.push_back(std::move(bytes));
    return messages;
  }
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t stop = std::min(bytes.find('\n', at), bytes.size());
    if (bytes.find_first_not_of(" \t\r", at) < stop)
      messages.push_back(bytes.substr(at, stop - at));
    at = stop + 1;
  }
  return messages;
}

int ImportFile(const Context& context, const ImportOptions& options, const std::string& path) {
  auto bytes = ReadWhole(path);
  if (!bytes) {
    context.err << bytes.error().message() << '\n';
    return kExitUsage;
  }
  const FileKind kind = KindOf(*bytes);
  if (kind == FileKind::kUnknown) {
    context.err << path
                << ": not recognised; supported are OTLP (protobuf, JSON, JSON lines), pprof and "
                   "folded stacks\n";
    return kExitUsage;
  }
  std::size_t sent = 0;
  for (std::string& message : MessagesOf(kind, std::move(*bytes))) {
    struct Call call = CallFor(kind, options, path);
    call.body = std::move(message);
    std::string body;
    if (const int exit = CallOrReport(context, call, body); exit >= 0) return exit;
    const bool binary = kind == FileKind::kTracesProto || kind == FileKind::kProfilesProto;
    if (!body.empty() && body != "{}") {
      context.err << path << ": partly taken" << (binary ? std::string() : ": " + body) << '\n';
    }
    ++sent;
  }
  if (!context.json) {
    context.out << fmt::format("{}: {}, {} message{}\n", path, FileKindName(kind), sent,
                               sent == 1 ? "" : "s");
  }
  return kExitFine;
}

}  // namespace

int Import(const Context& context, const ImportOptions& options) {
  int worst = kExitFine;
  for (const std::string& path : options.files) {
    const int exit = ImportFile(context, options, path);
    if (exit == kExitNoServer) return exit;
    worst = std::max(worst, exit);
  }
  if (context.json) {
    context.out << fmt::format("{{\"files\":{},\"ok\":{}}}\n", options.files.size(),
                               worst == kExitFine);
  }
  return worst;
}

}  // namespace hotspan::cli

#include "cli/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "cli/format.h"
#include "cli/json.h"
#include "cli/verbs.h"

namespace hotspan::cli {
namespace {

constexpr std::string_view kVersionText = "hotspan " HOTSPAN_VERSION;

// Where a verb's data are, and how it answers.
struct Common {
  std::string server = "http://127.0.0.1:4040";
  std::string data_dir;
  std::string output = "text";
};

using RunVerb = std::function<int(const Context&)>;

// A verb: its parser, and what to run once the arguments are read.
struct Verb {
  CLI::App* parser = nullptr;
  RunVerb run;
};

struct Verbs {
  CLI::App root{"Traces and profiles together: which code made this span slow?", "hotspan"};
  Common common;
  std::vector<Verb> verbs;
  ImportOptions import;
  ExplainOptions explain;
  FlameOptions flame;
  TracesOptions traces;
  BenchLoadOptions bench;
  bool version = false;

  Verbs();
  CLI::App* Add(const char* name, const char* help, RunVerb run);
  void AddReads();
};

void AddCommon(CLI::App& parser, Common& common) {
  parser.add_option("--server", common.server, "address of the server")
      ->envname("HOTSPAN_SERVER")
      ->capture_default_str();
  parser.add_option("--data-dir", common.data_dir, "work on this data folder, without a server");
  parser.add_option("--output", common.output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

CLI::App* Verbs::Add(const char* name, const char* help, RunVerb run) {
  CLI::App* parser = root.add_subcommand(name, help);
  AddCommon(*parser, common);
  verbs.push_back({parser, std::move(run)});
  return parser;
}

void Verbs::AddReads() {
  CLI::App* verb = Add("explain", "why a span is slow: explain TRACE [SPAN]",
                       [this](const Context& c) { return Explain(c, explain); });
  verb->add_option("trace", explain.trace_id, "trace id")->required();
  verb->add_option("span", explain.span_id, "span id; without: the one that matters most");
  verb->add_option("--mode", explain.mode, "self or with_children")
      ->check(CLI::IsMember({"self", "with_children"}));

  verb = Add("flame", "a merged flame graph of a service, a trace, a span or a query",
             [this](const Context& c) { return Flame(c, flame); });
  verb->add_option("--service", flame.service, "all samples of a service");
  verb->add_option("--trace", flame.trace_id, "samples of a trace's spans");
  verb->add_option("--span", flame.span_id, "of that span of the trace alone");
  verb->add_option("--spans", flame.spans, "samples of all spans that a TraceQL filter finds");
  verb->add_option("--type", flame.type, "profile type; without: on-CPU");
  verb->add_option("--mode", flame.mode, "of a span: self or with_children")
      ->check(CLI::IsMember({"self", "with_children"}));
  verb->add_option("--since", flame.since, "how far back, like 30m")->capture_default_str();
  verb->add_option("--svg", flame.svg, "write a picture");
  verb->add_option("--pprof", flame.pprof, "write a pprof file");
  verb->add_option("--folded", flame.folded, "write folded stacks");

  verb = root.add_subcommand("traces", "traces list: search as a table");
  verb->require_subcommand(1);
  CLI::App* list = verb->add_subcommand("list", "slowest first");
  AddCommon(*list, common);
  list->add_option("--service", traces.service, "with a span of this service");
  list->add_option("--filter", traces.filter, "TraceQL: { .http.status_code >= 500 }");
  list->add_option("--min-latency", traces.min_latency, "at least so long, like 500ms");
  list->add_option("--since", traces.since, "how far back")->capture_default_str();
  list->add_option("--limit", traces.limit, "at most so many")
      ->check(CLI::Range(1, 500))
      ->capture_default_str();
  list->add_flag("--links", traces.links, "with a link to each explanation");
  verbs.push_back({verb, [this](const Context& c) { return Traces(c, traces); }});
}

Verbs::Verbs() {
  // Listed for help; app runs it before the command line gets here.
  root.add_subcommand("serve", "run the server");
  CLI::App* verb = Add("import", "send files: OTLP, pprof, folded stacks, told by content",
                       [this](const Context& c) { return Import(c, import); });
  verb->add_option("files", import.files, "files")->required();
  verb->add_option("--service", import.service,
                   "service of profiles that don't name theirs (default: the file's name)");
  AddReads();
  verb = Add("bench-load", "send generated spans and samples to a server",
             [this](const Context& c) { return BenchLoad(c, bench); });
  verb->add_option("--spans", bench.spans, "how many spans")->capture_default_str();
  verb->add_option("--samples", bench.samples, "how many samples")->capture_default_str();
  verb->add_option("--seed", bench.seed, "same seed, same data")->capture_default_str();
  verb->add_option("--hours", bench.hours, "the data spread over so many hours, until now")
      ->check(CLI::Range(1, 24 * 30))
      ->capture_default_str();
  root.add_subcommand("version", "print the version");
  root.add_flag("--version", version, "print the version");
}

std::string NamesOf(const CLI::App& root) {
  std::string names;
  for (const CLI::App* verb : root.get_subcommands([](const CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + verb->get_name();
  }
  return names;
}

int RunOn(const Verbs& verbs, const RunVerb& run, const Environment& environment) {
  const Common& common = verbs.common;
  const auto with = [&](Api& api, std::string server) {
    return run({api, environment.out, environment.err, common.output == "json",
                ::isatty(STDOUT_FILENO) == 1, std::move(server)});
  };
  if (common.data_dir.empty()) return with(*environment.open_http(common.server), common.server);
  const auto api = environment.open_folder(common.data_dir);
  if (!api) {
    environment.err << "hotspan: " << api.error().message() << '\n';
    return kExitUsage;
  }
  return with(**api, {});
}

}  // namespace

int CallOrReport(const Context& context, const struct Call& call, std::string& body) {
  auto reply = context.api.Call(call);
  if (!reply) {
    context.err << "hotspan: " << reply.error().message() << '\n';
    return reply.error().code() == Code::kUnavailable ? kExitNoServer : kExitUsage;
  }
  body = std::move(reply->body);
  if (reply->status >= 200 && reply->status < 300) return -1;
  simdjson::dom::parser parser;
  Json answer;
  Json error;
  std::string message = body;
  if (ParseJson(parser, body, answer)) {
    if (answer["error"].get(error) != simdjson::SUCCESS) error = answer;
    message = TextOf(error, "message");
  }
  context.err << "hotspan: " << message << " (status " << reply->status << ")\n";
  return reply->status == 404 ? kExitNo : kExitUsage;
}

int Run(const std::vector<std::string>& arguments, const Environment& environment) {
  Verbs verbs;
  const auto known = verbs.root.get_subcommands([](const CLI::App*) { return true; });
  if (arguments.empty()) {
    environment.err << verbs.root.help();
    return kExitUsage;
  }
  const std::string& first = arguments[0];
  const bool is_verb = std::any_of(known.begin(), known.end(),
                                   [&](const CLI::App* verb) { return verb->get_name() == first; });
  if (!first.starts_with('-') && !is_verb) {
    environment.err << "hotspan: unknown verb \"" << first
                    << "\"; there are: " << NamesOf(verbs.root) << '\n';
    return kExitUsage;
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    verbs.root.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = verbs.root.get_subcommands();
    environment.out << (chosen.empty() ? verbs.root.help()
                                       : chosen[0]->help("", CLI::AppFormatMode::All));
    return kExitFine;
  } catch (const CLI::ParseError& error) {
    environment.err << "hotspan " << first << ": " << error.what() << "; see hotspan " << first
                    << " --help\n";
    return kExitUsage;
  }
  if (verbs.version || first == "version") {
    environment.out << kVersionText << '\n';
    return kExitFine;
  }
  for (const Verb& verb : verbs.verbs) {
    if (verb.parser->parsed()) return RunOn(verbs, verb.run, environment);
  }
  environment.err << verbs.root.help();
  return kExitUsage;
}

}  // namespace hotspan::cli

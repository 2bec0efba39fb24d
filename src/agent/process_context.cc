#include "agent/process_context.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "agent/context_stack.h"
#include "agent/otlp_fields.h"
#include "agent/time_now.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

namespace hotspan::agent {
namespace {

constexpr char kName[] = "OTEL_CTX";
constexpr std::uint32_t kVersion = 2;
constexpr protozero::pbf_tag_type kProcessContextResource = 1;
constexpr protozero::pbf_tag_type kProcessContextAttributes = 2;

// As readers in other processes expect it.
struct Header {
  char signature[8];
  std::uint32_t version;
  std::uint32_t payload_size;
  std::uint64_t published_at_ns;  // by CLOCK_BOOTTIME; 0: being written
  const char* payload;
};
static_assert(sizeof(Header) == 32);

void* MapRegion(std::size_t size) {
  int file = ::memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (file < 0) file = ::memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void* region = MAP_FAILED;
  if (file >= 0) {
    if (::ftruncate(file, static_cast<off_t>(size)) == 0) {
      region = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    }
    ::close(file);
  }
  if (region == MAP_FAILED) {
    region = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (region == MAP_FAILED) return nullptr;
  // A child is another process: it publishes its own.
  ::madvise(region, size, MADV_DONTFORK);
  return region;
}

std::string EncodePayload(const std::string& resource) {
  std::string bytes;
  protozero::pbf_writer context(bytes);
  context.add_message(kProcessContextResource, resource);
  protozero::pbf_writer pair(context, kProcessContextAttributes);
  pair.add_string(otlp::kKeyValueKey, "threadlocal.schema_version");
  protozero::pbf_writer any(pair, otlp::kKeyValueValue);
  any.add_string(otlp::kAnyString, "tlsdesc_v1_dev");
  return bytes;
}

struct Published {
  Header* header = nullptr;
  std::size_t region_size = 0;
  std::uint64_t fork_generation = 0;
  std::string payloads[2];  // the one published, and the one before that a reader may still copy
  std::size_t current = 0;
};

// Never destroyed: readers look until the process is gone.
Published& ThePublished() {
  alignas(Published) static std::byte storage[sizeof(Published)];
  static Published* const published = new (storage) Published;
  return *published;
}

}  // namespace

void PublishProcessContext(const std::string& resource) {
  Published& published = ThePublished();
  if (published.header != nullptr && published.fork_generation != ForkGeneration()) {
    published.header = nullptr;  // the mapping was not inherited
  }
  if (published.header == nullptr) {
    published.region_size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    published.header = static_cast<Header*>(MapRegion(published.region_size));
    published.fork_generation = ForkGeneration();
    if (published.header == nullptr) return;
  }
  published.current = 1 - published.current;
  std::string& payload = published.payloads[published.current];
  payload = EncodePayload(resource);

  Header& header = *published.header;
  std::atomic_ref<std::uint64_t> published_at(header.published_at_ns);
  const std::uint64_t before = published_at.exchange(0);
  __sync_synchronize();
  std::memcpy(header.signature, kName, sizeof(header.signature));
  header.version = kVersion;
  header.payload_size = static_cast<std::uint32_t>(payload.size());
  header.payload = payload.data();
  __sync_synchronize();
  const auto now = static_cast<std::uint64_t>(ReadClockNs(CLOCK_BOOTTIME));
  published_at.store(now > before ? now : before + 1);
  // Names the mapping where the kernel can, and tells profilers that watch for the call.
  ::prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, published.header, published.region_size, kName);
}

}  // namespace hotspan::agent

// Files of /proc/self/task/TID, read by system calls that can be repeated on the open file.
//
// Threads: not shared.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

namespace hotspan::agent {

class TaskFile {
 public:
  TaskFile() = default;
  TaskFile(TaskFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  TaskFile& operator=(TaskFile&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~TaskFile() { Close(); }

  bool Open(std::uint32_t tid, std::string_view name) {
    Close();
    char path[64] = "/proc/self/task/";
    char* at = std::to_chars(path + 16, path + 40, tid).ptr;
    *at++ = '/';
    at += name.copy(at, 16);
    *at = 0;
    file_ = open(path, O_RDONLY | O_CLOEXEC);
    return file_ >= 0;
  }
  bool is_open() const { return file_ >= 0; }
  void Close() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }
  // What it says now, or "" if the thread is gone; valid until the next call.
  std::string_view Read() {
    const ssize_t size = file_ < 0 ? -1 : pread(file_, text_, sizeof(text_), 0);
    return size <= 0 ? std::string_view() : std::string_view(text_, static_cast<std::size_t>(size));
  }

 private:
  int file_ = -1;
  char text_[256];
};

}  // namespace hotspan::agent

#include "agent/cfi_compiler.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "agent/dwarf_cursor.h"

namespace hotspan::agent {
namespace {

using Bytes = std::span<const std::uint8_t>;

// DWARF numbers of registers on x86-64.
constexpr std::uint64_t kRegisterBp = 6;
constexpr std::uint64_t kRegisterSp = 7;
constexpr std::uint64_t kRegisterRa = 16;

// .eh_frame_hdr with pc-relative pointer, 4-byte count, and a sorted table relative to itself.
constexpr std::array<std::uint8_t, 4> kUsualHeader = {1, 0x1b, 0x03, 0x3b};

// Nested DW_CFA_remember_state; compilers nest once.
constexpr std::size_t kStatesMax = 16;
// Bytes between two functions that are filler rather than code without information.
constexpr std::uint64_t kFillerBytesMax = 15;

struct Cie {
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::uint8_t pointer_encoding = 0;
  bool is_signal = false;
  bool has_augmentation_data = false;
  Bytes program;
};

enum class Saved : std::uint8_t { kSame, kAtCfa, kAtBp, kLost, kUndefined };

struct RegisterRule {
  Saved saved = Saved::kSame;
  std::int64_t offset = 0;  // from the CFA
};

struct FrameState {
  CfaRule cfa_rule = CfaRule::kUnsupported;
  std::int64_t cfa_offset = 0;
  std::uint64_t cfa_register = 0;
  RegisterRule bp;
  RegisterRule ra;
};

CfaRule RuleOfRegister(std::uint64_t number) {
  if (number == kRegisterSp) return CfaRule::kSp;
  if (number == kRegisterBp) return CfaRule::kBp;
  return CfaRule::kUnsupported;
}

// The expressions that compilers and linkers really write.
void SetCfaExpression(FrameState& state, Bytes expression) {
  state.cfa_rule = CfaRule::kUnsupported;
  // Linkers, for .plt: sp + 8 + ((ip & 15) >= N) * 8.
  if (expression.size() == 11 && expression[0] == 0x77 && expression[1] == 8 &&
      expression[2] == 0x80 && expression[3] == 0 && expression[4] == 0x3f &&
      expression[5] == 0x1a && expression[6] >= 0x30 && expression[6] <= 0x4f &&
      expression[7] == 0x2a && expression[8] == 0x33 && expression[9] == 0x24 &&
      expression[10] == 0x22) {
    state.cfa_rule = CfaRule::kPlt;
    state.cfa_offset = expression[6] - 0x30;
    return;
  }
  // Compilers, for realigned stacks: *(bp + N).
  DwarfCursor cursor(expression, 0);
  if (cursor.Fixed<std::uint8_t>() != 0x76) return;
  const std::int64_t offset = cursor.Sleb();
  if (cursor.Fixed<std::uint8_t>() != 0x06 || !cursor.ok() || !cursor.AtEnd()) return;
  state.cfa_rule = CfaRule::kBpDeref;
  state.cfa_offset = offset;
}

class Program {
 public:
  Program(const Cie& cie, std::uint64_t start) : cie_(cie), at_(start) {}

  FrameState& state() { return state_; }
  void KeepInitial() { initial_ = state_; }

  // Calls emit(state, at) before each change of place. False if it is broken.
  template <typename Emit>
  bool Run(Bytes bytes, std::uint64_t address, const Emit& emit) {
    DwarfCursor cursor(bytes, address);
    while (!cursor.AtEnd()) {
      const std::uint8_t op = cursor.Fixed<std::uint8_t>();
      const std::uint64_t low = op & 63;
      switch (op >> 6) {
        case 1:
          Advance(low, emit);
          break;
        case 2:
          SetSaved(low, Scaled(cursor.Uleb()));
          break;
        case 3:
          Restore(low);
          break;
        default:
          if (!RunPlain(op, cursor, emit)) return false;
      }
    }
    return cursor.ok();
  }
  std::uint64_t at() const { return at_; }

 private:
  template <typename Emit>
  void Advance(std::uint64_t by, const Emit& emit) {
    if (by == 0) return;
    emit(state_, at_);
    at_ += by * cie_.code_factor;
  }

  template <typename Emit>
  bool RunPlain(std::uint8_t op, DwarfCursor& cursor, const Emit& emit) {
    switch (op) {
      case 0x00:
        return true;  // nop
      case 0x01:      // set_loc
        emit(state_, at_);
        at_ = cursor.Encoded(cie_.pointer_encoding);
        return true;
      case 0x02:
        Advance(cursor.Fixed<std::uint8_t>(), emit);
        return true;
      case 0x03:
        Advance(cursor.Fixed<std::uint16_t>(), emit);
        return true;
      case 0x04:
        Advance(cursor.Fixed<std::uint32_t>(), emit);
        return true;
      case 0x0a:  // remember_state
        if (stack_.size() == kStatesMax) return false;
        stack_.push_back(state_);
        return true;
      case 0x0b:  // restore_state
        if (stack_.empty()) return false;
        state_ = stack_.back();
        stack_.pop_back();
        return true;
      default:
        return RunRegisterRule(op, cursor) || RunCfaRule(op, cursor);
    }
  }

  bool RunRegisterRule(std::uint8_t op, DwarfCursor& cursor) {
    if (op < 0x05 || (op > 0x09 && op < 0x10)) return false;
    const bool known = op <= 0x09 || op == 0x10 || op == 0x11 || (op >= 0x14 && op <= 0x16);
    if (!known) return false;
    const std::uint64_t number = cursor.Uleb();
    switch (op) {
      case 0x05:  // offset_extended
        SetSaved(number, Scaled(cursor.Uleb()));
        return true;
      case 0x11:  // offset_extended_sf
        SetSaved(number, Scaled(static_cast<std::uint64_t>(cursor.Sleb())));
        return true;
      case 0x06:
        Restore(number);
        return true;
      case 0x07:
        Set(number, Saved::kUndefined);
        return true;
      case 0x08:
        Set(number, Saved::kSame);
        return true;
      case 0x09:  // register
        cursor.Uleb();
        Set(number, Saved::kLost);
        return true;
      case 0x14:
        cursor.Uleb();
        Set(number, Saved::kLost);
        return true;  // val_offset
      case 0x15:
        cursor.Sleb();
        Set(number, Saved::kLost);
        return true;  // val_offset_sf
      default: {      // expressions
        const Bytes expression = cursor.Take(cursor.Uleb());
        const bool at_bp =
            op == 0x10 && expression.size() == 2 && expression[0] == 0x76 && expression[1] == 0;
        Set(number, at_bp ? Saved::kAtBp : Saved::kLost);
        return true;
      }
    }
  }

  bool RunCfaRule(std::uint8_t op, DwarfCursor& cursor) {
    switch (op) {
      case 0x0c:
        SetCfa(cursor.Uleb());
        SetOffset(static_cast<std::int64_t>(cursor.Uleb()));
        break;
      case 0x12:
        SetCfa(cursor.Uleb());
        SetOffset(Scaled(static_cast<std::uint64_t>(cursor.Sleb())));
        break;
      case 0x0d:
        SetCfa(cursor.Uleb());
        break;
      case 0x0e:
        SetOffset(static_cast<std::int64_t>(cursor.Uleb()));
        break;
      case 0x13:
        SetOffset(Scaled(static_cast<std::uint64_t>(cursor.Sleb())));
        break;
      case 0x0f:
        SetCfaExpression(state_, cursor.Take(cursor.Uleb()));
        break;
      case 0x2d:
        break;  // GNU_window_save
      case 0x2e:
        cursor.Uleb();
        break;  // GNU_args_size
      default:
        return false;
    }
    return true;
  }

  // Wraps rather than overflows: the factors may be anything.
  std::int64_t Scaled(std::uint64_t value) const {
    return static_cast<std::int64_t>(value * static_cast<std::uint64_t>(cie_.data_factor));
  }
  void SetCfa(std::uint64_t number) { state_.cfa_rule = RuleOfRegister(number); }
  void SetOffset(std::int64_t offset) { state_.cfa_offset = offset; }
  void Set(std::uint64_t number, Saved saved, std::int64_t offset = 0) {
    if (number == kRegisterBp) state_.bp = RegisterRule{saved, offset};
    if (number == kRegisterRa) state_.ra = RegisterRule{saved, offset};
  }
  void SetSaved(std::uint64_t number, std::int64_t offset) { Set(number, Saved::kAtCfa, offset); }
  void Restore(std::uint64_t number) {
    if (number == kRegisterBp) state_.bp = initial_.bp;
    if (number == kRegisterRa) state_.ra = initial_.ra;
  }

  const Cie& cie_;
  FrameState state_;
  FrameState initial_;
  std::vector<FrameState> stack_;
  std::uint64_t at_;
};

std::uint32_t PackState(const FrameState& state, bool is_signal) {
  if (state.ra.saved == Saved::kUndefined) return CfiRow::Pack(CfaRule::kOutermost, kBpSame, 0);
  if (is_signal) return CfiRow::Pack(CfaRule::kSignal, kBpSame, 0);
  constexpr std::uint32_t kNoRow = CfiRow::Pack(CfaRule::kUnsupported, kBpSame, 0);
  if (state.ra.saved != Saved::kAtCfa || state.ra.offset != -8) return kNoRow;
  if (state.cfa_rule == CfaRule::kUnsupported) return kNoRow;
  if (state.cfa_offset > CfiRow::kOffsetMax || state.cfa_offset < CfiRow::kOffsetMin) return kNoRow;
  std::uint8_t bp = kBpLost;
  if (state.bp.saved == Saved::kSame) bp = kBpSame;
  if (state.bp.saved == Saved::kAtBp) bp = kBpAtBp;
  if (state.bp.saved == Saved::kAtCfa && state.bp.offset % 8 == 0 && state.bp.offset <= -8 &&
      state.bp.offset >= -8 * 125) {
    bp = static_cast<std::uint8_t>(-state.bp.offset / 8);
  }
  return CfiRow::Pack(state.cfa_rule, bp, static_cast<std::int32_t>(state.cfa_offset));
}

class Compiler {
 public:
  Compiler(const EhFrame& image, CompiledCfi& out) : image_(image), out_(out) {}

  void Add(std::uint64_t fde_address) {
    const std::optional<Bytes> entry = EntryAt(fde_address);
    if (!entry) return;
    DwarfCursor cursor(*entry, fde_address + 4);
    const std::uint64_t cie_address = cursor.address() - cursor.Fixed<std::uint32_t>();
    const Cie* cie = CieAt(cie_address);
    if (cie == nullptr) return;
    const std::uint64_t start = cursor.Encoded(cie->pointer_encoding);
    const std::uint64_t size = cursor.EncodedValue(cie->pointer_encoding);
    if (cie->has_augmentation_data) cursor.Take(cursor.Uleb());
    const std::uint64_t end = start + size;
    if (!cursor.ok() || size == 0 || end < start) return;
    if (start < out_.start || end > out_.limit) return;
    if (start < end_) return;  // the table is sorted; what overlaps is broken
    if (end_ != 0 && start - end_ > kFillerBytesMax) AddRow(end_, 0);
    AddFunction(*cie, cursor, start, end);
    end_ = end;
    ++out_.function_count;
  }

  void Finish() {
    if (end_ != 0 && end_ < out_.limit) AddRow(end_, 0);
    const std::uint64_t size = out_.limit - out_.start;
    const std::size_t buckets = (size >> kBucketShift) + 2;
    const std::uint32_t none = static_cast<std::uint32_t>(out_.rows.size());
    out_.rows.shrink_to_fit();
    out_.buckets.reserve(buckets);
    std::uint32_t row = 0;  // rows before it start at or before the bucket
    for (std::size_t i = 0; i < buckets; ++i) {
      const std::uint64_t offset = i << kBucketShift;
      while (row < out_.rows.size() && out_.rows[row].offset <= offset) ++row;
      out_.buckets.push_back(row == 0 ? none : row - 1);
    }
  }

 private:
  // The bytes of a CIE or FDE after its length.
  std::optional<Bytes> EntryAt(std::uint64_t address) const {
    if (address < image_.frames_address) return std::nullopt;
    const std::uint64_t at = address - image_.frames_address;
    if (at >= image_.frames.size()) return std::nullopt;
    DwarfCursor cursor(Bytes(image_.frames).subspan(static_cast<std::size_t>(at)), address);
    const std::uint32_t length = cursor.Fixed<std::uint32_t>();
    if (length == 0 || length == UINT32_MAX) return std::nullopt;
    const Bytes entry = cursor.Take(length);
    if (!cursor.ok()) return std::nullopt;
    return entry;
  }

  const Cie* CieAt(std::uint64_t address) {
    const auto found = cies_.find(address);
    if (found != cies_.end()) return found->second ? &*found->second : nullptr;
    std::optional<Cie>& cie = cies_[address];
    cie = ParseCie(address);
    return cie ? &*cie : nullptr;
  }

  std::optional<Cie> ParseCie(std::uint64_t address) const {
    const std::optional<Bytes> entry = EntryAt(address);
    if (!entry) return std::nullopt;
    DwarfCursor cursor(*entry, address + 4);
    if (cursor.Fixed<std::uint32_t>() != 0) return std::nullopt;
    const std::uint8_t version = cursor.Fixed<std::uint8_t>();
    if (version != 1 && version != 3) return std::nullopt;
    std::string_view augmentation(reinterpret_cast<const char*>(cursor.Rest().data()),
                                  cursor.Rest().size());
    augmentation = augmentation.substr(0, augmentation.find('\0'));
    cursor.Take(augmentation.size() + 1);
    Cie cie;
    cie.code_factor = cursor.Uleb();
    cie.data_factor = cursor.Sleb();
    const std::uint64_t return_register =
        version == 1 ? cursor.Fixed<std::uint8_t>() : cursor.Uleb();
    if (return_register != kRegisterRa) return std::nullopt;
    if (!augmentation.empty()) {
      if (augmentation[0] != 'z') return std::nullopt;
      cie.has_augmentation_data = true;
      if (!ParseAugmentation(augmentation.substr(1), cursor, cie)) return std::nullopt;
    }
    cie.program = cursor.Rest();
    if (!cursor.ok()) return std::nullopt;
    return cie;
  }

  static bool ParseAugmentation(std::string_view letters, DwarfCursor& cursor, Cie& cie) {
    const std::uint64_t size = cursor.Uleb();
    const std::uint64_t address = cursor.address();
    DwarfCursor data(cursor.Take(size), address);
    for (const char letter : letters) {
      switch (letter) {
        case 'R':
          cie.pointer_encoding = data.Fixed<std::uint8_t>();
          break;
        case 'L':
          data.Fixed<std::uint8_t>();
          break;
        case 'P':
          data.EncodedValue(data.Fixed<std::uint8_t>());
          break;
        case 'S':
          cie.is_signal = true;
          break;
        default:
          return false;
      }
    }
    return data.ok() && cursor.ok();
  }

  void AddFunction(const Cie& cie, DwarfCursor& cursor, std::uint64_t start, std::uint64_t end) {
    Program program(cie, start);
    const auto ignore = [](const FrameState&, std::uint64_t) {};
    bool ok = program.Run(cie.program, 0, ignore);
    program.KeepInitial();
    std::uint64_t last = start;
    const auto emit = [&](const FrameState& state, std::uint64_t at) {
      if (at < last || at >= end) return;
      last = at;
      AddRow(at, PackState(state, cie.is_signal));
    };
    ok = ok && program.Run(cursor.Rest(), cursor.address(), emit);
    if (!ok) {
      AddRow(last, CfiRow::Pack(CfaRule::kUnsupported, kBpSame, 0));
      return;
    }
    emit(program.state(), program.at());
  }

  void AddRow(std::uint64_t at, std::uint32_t packed) {
    std::vector<CfiRow>& rows = out_.rows;
    const std::uint32_t offset = static_cast<std::uint32_t>(at - out_.start);
    if (!rows.empty() && rows.back().offset == offset) {
      rows.back().packed = packed;
      return;
    }
    if (!rows.empty() && rows.back().packed == packed) return;
    if (CfiRow{offset, packed}.rule() == CfaRule::kUnsupported) ++out_.unsupported_count;
    rows.push_back(CfiRow{offset, packed});
  }

  const EhFrame& image_;
  CompiledCfi& out_;
  std::unordered_map<std::uint64_t, std::optional<Cie>> cies_;
  std::uint64_t end_ = 0;
};

}  // namespace

CfiModule CompiledCfi::View() const {
  CfiModule view;
  view.start = start;
  view.limit = limit;
  view.rows = rows.data();
  view.row_count = static_cast<std::uint32_t>(rows.size());
  view.buckets = buckets.data();
  view.bucket_count = static_cast<std::uint32_t>(buckets.size());
  return view;
}

EhFrameExtent ReadEhFrameHeader(std::span<const std::uint8_t> header,
                                std::uint64_t header_address) {
  EhFrameExtent extent;
  DwarfCursor cursor(header, header_address);
  for (const std::uint8_t expected : kUsualHeader) {
    if (cursor.Fixed<std::uint8_t>() != expected) return {};
  }
  extent.frames_address = cursor.Encoded(0x1b);
  extent.function_count = cursor.Fixed<std::uint32_t>();
  const std::size_t room = cursor.Rest().size() / kEhFrameHeaderEntryBytes;
  for (std::size_t i = 0; i < std::min<std::size_t>(extent.function_count, room); ++i) {
    cursor.Fixed<std::int32_t>();
    const std::int64_t relative = cursor.Fixed<std::int32_t>();
    const std::uint64_t entry = header_address + static_cast<std::uint64_t>(relative);
    extent.last_function = std::max(extent.last_function, entry);
  }
  return cursor.ok() ? extent : EhFrameExtent{};
}

CompiledCfi CompileCfi(const EhFrame& image, std::uint64_t start, std::uint64_t limit) {
  CompiledCfi out;
  out.start = start;
  out.limit = limit;
  if (limit <= start || limit - start > UINT32_MAX) return out;
  const EhFrameExtent extent = ReadEhFrameHeader(image.header, image.header_address);
  DwarfCursor table(image.header, image.header_address);
  table.Take(kEhFrameHeaderBytes);
  Compiler compiler(image, out);
  out.rows.reserve(std::size_t{8} *
                   std::min<std::size_t>(extent.function_count, image.header.size() / 8));
  for (std::uint32_t i = 0; i < extent.function_count && !table.AtEnd(); ++i) {
    table.Fixed<std::int32_t>();
    const std::int64_t relative = table.Fixed<std::int32_t>();
    if (table.ok()) compiler.Add(image.header_address + static_cast<std::uint64_t>(relative));
  }
  compiler.Finish();
  return out;
}

}  // namespace hotspan::agent

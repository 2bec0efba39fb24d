// Demangled C++ names as people say them: without parameters, template arguments and ABI tags.
#pragma once

#include <string>
#include <string_view>

namespace hotspan {

// "std::vector<int>::push_back(int&&)" becomes "std::vector::push_back"; "bool f<int>(int) const"
// becomes "f"; operators, lambdas and "(anonymous namespace)" keep theirs. Names of other
// languages, which have none of these, come back as they are.
std::string ShortFunctionName(std::string_view demangled);

}  // namespace hotspan

// Boost.JSON compiled with the demo's flags instead of Debian's library, which has no line numbers.
#include <boost/json/src.hpp>

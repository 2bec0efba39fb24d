/* A module that tests load late and call through: its frame must be found without frame pointers. */
int hotspan_test_module_call(void (*function)(void*), void* argument);

int hotspan_test_module_call(void (*function)(void*), void* argument) {
  volatile char room[200];
  room[0] = 1;
  function(argument);
  return room[0];
}

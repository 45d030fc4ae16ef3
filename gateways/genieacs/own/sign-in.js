// Gives the device the sign-in of its own that the platform tells. It has its own channel: a device that refuses the
// sign-in has all the rest.
const told = ask();

if (!told) {
  declare(waiting, null, {value: true});
} else {
  for (const [name, value, type] of told.parameters || []) {
    if (signIn.test(name)) {
      declare(name, {value: 1}, {value: type ? [value, type] : value});
    }
  }
}

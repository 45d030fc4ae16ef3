// Package waittest says how long tests wait.
package waittest

import "time"

// Limit bounds the wait of a test for something that has to happen. It is so long that only a fault reaches it, not a
// slow machine. A test that wants to see a limit of the program itself has its own.
const Limit = 2 * time.Minute

package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
)

// maxIdentifier is the length of the longest name in bytes that PostgreSQL keeps. It cuts longer ones silently, which
// could make two names equal.
const maxIdentifier = 63

// Namespace is the base of all schema names of one installation, "lastmile" by default. Tests use a random one each,
// so that many of them share a database. The zero value is not valid.
type Namespace string

// Shapes of names that need no quoting in SQL.
var (
	namespaceShape = regexp.MustCompile(`^[a-z][a-z0-9]{0,23}$`)
	partShape      = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// Validate fails for a namespace that could not stand unquoted in SQL. An underscore is refused, so that no namespace
// is the beginning of another one's schema names.
func (n Namespace) Validate() error {
	if !namespaceShape.MatchString(string(n)) {
		return fmt.Errorf("namespace %q: want 1 to 24 lower-case letters and digits, a letter first", string(n))
	}
	return nil
}

// Schema names the schema of one part, as in "lastmile_vault". The name needs no quoting. It panics on a part that
// makes no valid name of at most 63 bytes: parts are constants of the program.
func (n Namespace) Schema(part string) string {
	name := string(n) + "_" + part
	if n.Validate() != nil || !partShape.MatchString(part) || len(name) > maxIdentifier {
		panic(fmt.Sprintf("postgres: %q is no schema name", name))
	}
	return name
}

// LockKey is the advisory lock key of a name inside this namespace: installations that share a database never wait for
// each other (docs/rules/engine.md#one-sequencer).
func (n Namespace) LockKey(name string) int64 {
	sum := sha256.Sum256([]byte(string(n) + "\x00" + name))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // any 64 bits will do
}

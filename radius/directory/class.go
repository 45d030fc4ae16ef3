package directory

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// The parts of a Class: its form, the subscription, what was granted, and a signature.
const (
	classForm  = 2
	classSign  = 8
	classGrant = 1 + 4*4
	classSize  = 1 + 16 + classGrant + classSign
)

// The Class of the first versions of the program, which routers repeat until the sessions of before an upgrade end. It
// has the subscription and a signature.
const (
	firstForm = 1
	firstSize = 1 + 16 + classSign
)

// classAccess gives each degree of access its number in a Class. Routers keep Classes over an upgrade of the program,
// so degrees are only ever added at the end.
var classAccess = []entitlement.Access{
	entitlement.None, entitlement.WalledGarden, entitlement.Throttled, entitlement.Full,
}

// NewClass makes the value of the attribute Class, which routers repeat in every accounting record of a session: the
// subscription and what the accept granted, signed, so that no router can report in the name of another organization's
// customer (docs/rules/access-enforcement.md#what-was-granted).
func NewClass(key []byte, subscription id.Subscription, g Grant) []byte {
	class := append(make([]byte, 0, classSize), classForm)
	class = append(class, subscription[:]...)
	class = append(class, byte(max(0, slices.Index(classAccess, g.Access)))) //nolint:gosec // a short list
	for _, part := range []uint32{kbits(g.Down), kbits(g.Up), g.Speed, g.Rest} {
		class = binary.BigEndian.AppendUint32(class, part)
	}
	return append(class, classSignature(key, class)...)
}

// ReadClass finds the subscription of a Class and what was granted; false when this installation did not make it. The
// grant is the zero value, of UnknownStamp, when the first versions of the program made the Class.
func ReadClass(key, class []byte) (id.Subscription, Grant, bool) {
	first := len(class) == firstSize && class[0] == firstForm
	if !first && (len(class) != classSize || class[0] != classForm) {
		return id.Subscription{}, Grant{}, false
	}
	signed := class[:len(class)-classSign]
	if !hmac.Equal(classSignature(key, signed), class[len(class)-classSign:]) {
		return id.Subscription{}, Grant{}, false
	}
	if first {
		return id.Subscription(signed[1:]), Grant{}, true
	}
	granted := signed[17:]
	if int(granted[0]) >= len(classAccess) {
		return id.Subscription{}, Grant{}, false
	}
	part := func(i int) uint32 { return binary.BigEndian.Uint32(granted[1+4*i:]) }
	return id.Subscription(signed[1:17]), Grant{
		Access: classAccess[granted[0]], Down: int64(part(0)), Up: int64(part(1)), Speed: part(2), Rest: part(3),
	}, true
}

// classSignature is the beginning of an HMAC over the rest of a Class.
func classSignature(key, signed []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(signed)
	return mac.Sum(nil)[:classSign]
}

// kbits bounds a speed to what fits into a Class.
func kbits(speed int64) uint32 { return uint32(min(max(speed, 0), 1<<32-1)) } //nolint:gosec // bounded

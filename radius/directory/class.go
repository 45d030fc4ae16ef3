package directory

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// The parts of a Class: its form, the subscription, and a signature.
const (
	classForm = 1
	classSign = 8
	classSize = 1 + 16 + classSign
)

// NewClass makes the value of the attribute Class, which routers repeat in every accounting record of a session: the
// subscription, signed, so that no router can report in the name of another organization's customer.
func NewClass(key []byte, subscription id.Subscription) []byte {
	class := append(make([]byte, 0, classSize), classForm)
	class = append(class, subscription[:]...)
	return append(class, classSignature(key, class)...)
}

// ReadClass finds the subscription of a Class; false when this installation did not make it.
func ReadClass(key, class []byte) (id.Subscription, bool) {
	if len(class) != classSize || class[0] != classForm {
		return id.Subscription{}, false
	}
	signed := class[:classSize-classSign]
	if !hmac.Equal(classSignature(key, signed), class[classSize-classSign:]) {
		return id.Subscription{}, false
	}
	return id.Subscription(signed[1:]), true
}

// classSignature is the beginning of an HMAC over the rest of a Class.
func classSignature(key, signed []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(signed)
	return mac.Sum(nil)[:classSign]
}

package directory

import (
	"crypto/hmac"
	"encoding/binary"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// The parts of a Class of a voucher: its form, the voucher, when it was first signed in with, when this session was
// accepted, and a signature.
const (
	voucherForm      = 'V'
	voucherClassSize = 1 + 16 + 8 + 8 + classSign
)

// voucherPass has the content of the Class of a voucher's session. Instants are in UTC, exact to the microsecond.
type voucherPass struct {
	voucher id.Voucher
	first   time.Time
	at      time.Time
}

// class makes the value of the attribute Class. Because routers repeat it in every accounting record, a first sign-in
// that was accepted and not recorded is recorded later with the same instant.
func (p voucherPass) class(key []byte) []byte {
	class := append(make([]byte, 0, voucherClassSize), voucherForm)
	class = append(class, p.voucher[:]...)
	for _, at := range []time.Time{p.first, p.at} {
		class = binary.BigEndian.AppendUint64(class, uint64(at.UnixMicro())) //nolint:gosec // after 1970
	}
	return append(class, classSignature(key, class)...)
}

// readVoucherPass reads the Class of a voucher's session; false when this installation did not make it.
func readVoucherPass(key, class []byte) (voucherPass, bool) {
	if len(class) != voucherClassSize || class[0] != voucherForm {
		return voucherPass{}, false
	}
	signed := class[:voucherClassSize-classSign]
	if !hmac.Equal(classSignature(key, signed), class[voucherClassSize-classSign:]) {
		return voucherPass{}, false
	}
	instant := func(b []byte) time.Time {
		return time.UnixMicro(int64(binary.BigEndian.Uint64(b))).UTC() //nolint:gosec // of our own making
	}
	return voucherPass{id.Voucher(signed[1:17]), instant(signed[17:]), instant(signed[25:])}, true
}

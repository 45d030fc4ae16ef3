package directory

import (
	"bytes"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// Keys of this installation and of another one.
var classKey, otherKey = []byte("key"), []byte("other")

// classSeeds are genuine Classes of each form and broken ones.
func classSeeds() [][]byte {
	whose := id.Derive[id.Subscription]("test", "subscription")
	grant := Grant{Access: entitlement.Throttled, Down: 5_000, Up: 1_000, Speed: 7, Rest: 9}
	granted := NewClass(classKey, whose, grant)
	beyond := bytes.Clone(granted)
	beyond[17] = byte(len(classAccess)) // a degree of access that a later version may know
	pass := voucherPass{id.Derive[id.Voucher]("test", "voucher"), time.UnixMicro(1e15), time.UnixMicro(2e15)}
	list := [][]byte{{}, granted, beyond, signedClass(append([]byte{firstForm}, whose[:]...)), pass.class(classKey)}
	for _, class := range list[1:] {
		list = append(list, class[:len(class)-1], append(bytes.Clone(class), 0), class[:classSign])
	}
	return list
}

// signedClass adds this installation's signature to the content of a Class.
func signedClass(content []byte) []byte {
	return append(bytes.Clone(content), classSignature(classKey, content)...)
}

// fuzzClass gives a check Classes as routers send them, and others as this installation would have signed them.
func fuzzClass(f *testing.F, check func(t *testing.T, class []byte)) {
	f.Helper()
	for _, class := range classSeeds() {
		f.Add(class, false)
		f.Add(class[:max(0, len(class)-classSign)], true)
	}
	f.Fuzz(func(t *testing.T, class []byte, sign bool) {
		if sign {
			class = signedClass(class)
		}
		check(t, class)
	})
}

// FuzzReadClass checks that what is read of a Class makes the same Class again, and that it is nobody else's.
func FuzzReadClass(f *testing.F) {
	fuzzClass(f, func(t *testing.T, class []byte) {
		subscription, granted, ours := ReadClass(classKey, class)
		if !ours {
			if subscription != (id.Subscription{}) || granted != (Grant{}) {
				t.Fatalf("%x is not ours, and of %v: %+v", class, subscription, granted)
			}
			return
		}
		again := NewClass(classKey, subscription, granted)
		if class[0] == firstForm {
			again = signedClass(append([]byte{firstForm}, subscription[:]...))
		}
		if !bytes.Equal(again, class) {
			t.Errorf("%x is read as %x", class, again)
		}
		if _, _, theirs := ReadClass(otherKey, class); theirs {
			t.Errorf("%x is also of another installation", class)
		}
		if _, both := readVoucherPass(classKey, class); both {
			t.Errorf("%x is also of a voucher", class)
		}
	})
}

// FuzzReadVoucherPass is FuzzReadClass for Classes of vouchers.
func FuzzReadVoucherPass(f *testing.F) {
	fuzzClass(f, func(t *testing.T, class []byte) {
		pass, ours := readVoucherPass(classKey, class)
		if !ours {
			if pass != (voucherPass{}) {
				t.Fatalf("%x is not ours, and of %+v", class, pass)
			}
			return
		}
		if again := pass.class(classKey); !bytes.Equal(again, class) {
			t.Errorf("%x is read as %x", class, again)
		}
		if _, theirs := readVoucherPass(otherKey, class); theirs {
			t.Errorf("%x is also of another installation", class)
		}
	})
}

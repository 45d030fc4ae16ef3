package directory_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// TestClass_OfTheFirstVersionsIsStillOurs: a session that began before an upgrade repeats the Class of then. What was
// granted is not known, but the session is one of ours, also after the end of its subscription.
func TestClass_OfTheFirstVersionsIsStillOurs(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
	sign := func(key string) []byte {
		class := append([]byte{1}, i.subscription[:]...)
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write(class)
		return append(class, mac.Sum(nil)[:8]...)
	}
	for _, when := range []string{"now", "ended"} {
		if when == "ended" {
			k.apply(events.SubscriptionEnded{SubscriptionID: i.subscription})
		}
		h, known := k.dir.Holder(i.org, sign("key"), "someone", noon)
		if !known || !h.Told || h.SubscriptionID != i.subscription || h.Grant.Stamp() != directory.UnknownStamp {
			t.Errorf("%s: %+v, %v", when, h, known)
		}
	}
	if h, known := k.dir.Holder(i.org, sign("other"), "someone", noon); known {
		t.Errorf("of another installation: %+v", h)
	}
}

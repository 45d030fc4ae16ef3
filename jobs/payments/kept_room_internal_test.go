package paymentsjobs

import (
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/journal"
)

// TestKeptRoom_EachCallbackGivesBackWhatItHeld: of an organization, of a sender without a known token, of before the
// start; one of another program held nothing.
func TestKeptRoom_EachCallbackGivesBackWhatItHeld(t *testing.T) {
	t.Parallel()
	sealed := func(name string) []byte { return fmt.Appendf(nil, "%-100s", name) }
	size := journal.Size(sealed(""))
	r := newKeptRoom(2 * size)
	org := keptSource{known: true, org: id.Derive[id.Organization]("one")}
	sender := keptSource{sender: "198.51.100.7", most: 2 * size}
	holds := func(when string, before, ofOrg, ofSender int64) {
		t.Helper()
		got := [...]int64{
			r.known.Held(inherited), r.known.Held(org.org), r.senders[sender.sender], r.known.Used(), r.strangers,
		}
		want := [...]int64{before * size, ofOrg * size, ofSender * size, (before + ofOrg) * size, ofSender * size}
		if got != want {
			t.Errorf("%s: %d, want %d", when, got, want)
		}
	}
	for name, source := range map[string]keptSource{
		"org 1": org, "org 2": org, "sender 1": sender, "sender 2": sender,
	} {
		if !r.take(keptIDOf(sealed(name)), source, size) {
			t.Fatal(name)
		}
	}
	if r.take(keptIDOf(sealed("sender 3")), sender, size) {
		t.Error("a sender has more than it may")
	}
	r.adopt(keptIDOf(sealed("adopted")))
	holds("all", 2, 2, 2)
	r.gone([][]byte{sealed("org 1"), sealed("adopted")}) // before it is told to be written
	r.written(keptIDOf(sealed("org 1")), false)
	holds("of an organization", 2, 1, 2)
	r.written(keptIDOf(sealed("sender 1")), true)
	r.written(keptIDOf(sealed("sender 2")), false)
	holds("one that was not written", 2, 1, 1)
	r.gone([][]byte{sealed("before 1"), sealed("sender 2")})
	holds("of before and of a sender", 1, 1, 0)
	r.gone([][]byte{sealed("before 2"), sealed("before 3")})
	holds("more than were before", 0, 1, 0)
	r.emptied(func() bool { return true }, func() { t.Error("one is being written") })
	r.written(keptIDOf(sealed("org 2")), false)
	emptied := false
	r.emptied(func() bool { return true }, func() { emptied = true })
	if holds("empty", 0, 0, 0); !emptied {
		t.Error("it is not told")
	}
}

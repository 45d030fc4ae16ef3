package directory_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// noting has sign-ins with vouchers noted in a directory of the disk; the test ends it.
func (k *kit) noting(dir string) *directory.VoucherNotes {
	k.t.Helper()
	n := directory.NewVoucherNotes(k.dir, dir, slog.New(slog.DiscardHandler))
	if err := n.Start(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(n.Stop)
	return n
}

// TestVouchers_AKillMakesNoneWholeAgain: the event store is away, somebody signs in and another device takes the
// voucher over, and the program is killed. Nobody reports about the sessions. The end of the file is of a write that a
// power failure cut off.
func TestVouchers_AKillMakesNoneWholeAgain(t *testing.T) {
	t.Parallel()
	s, dir := newSafe(), t.TempDir()
	v, history := sell(s, calendar.Hour, 2)
	killed := newKit(t, s, history...)
	noted := killed.noting(dir)
	killed.accepted(typed(phone, v.codes[0]))
	killed.clock.Advance(10 * time.Minute)
	killed.accepted(typed(laptop, v.codes[0]))
	killed.accepted(typed(laptop, v.codes[0]))
	killed.stop()
	noted.Stop()
	file := filepath.Join(dir, "vouchers.notes")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(whole, whole[:50]...), 0o600); err != nil {
		t.Fatal(err)
	}

	k := newKit(t, s, history...) // the log has no sign-in
	noted = k.noting(dir)
	k.clock.Advance(30 * time.Minute)
	if answer, _ := k.accepted(typed(phone, v.codes[0])); rfc2865.SessionTimeout_Get(answer) != 1800 {
		t.Errorf("half an hour later: %v", answer.Attributes)
	}
	k.accepted(typed(phone, v.codes[1]))
	list := k.recorded(4)
	first := map[bool][]string{}
	for _, in := range list {
		mine := in.Subject == v.subject(0)
		first[mine] = append(first[mine], in.MAC.String()+in.First.Format(" 15:04"))
	}
	if got := first[true]; len(got) != 3 || got[0] != phone+noon.Format(" 15:04") ||
		got[1] != laptop+noon.Format(" 15:04") || got[2] != phone+noon.Format(" 15:04") {
		t.Errorf("recorded %v", first)
	}
	noted.Stop()
	if stat, err := os.Stat(file); err != nil || stat.Size() != 0 {
		t.Errorf("the log has all, and the disk %d bytes, %v", stat.Size(), err)
	}
}

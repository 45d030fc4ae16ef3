package directory_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/journal"
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
	file := filepath.Join(dir, "vouchers", "00000001")
	octets, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	whole := bytes.TrimRight(octets, "\x00")
	if err := os.WriteFile(file, append(whole, whole[512:562]...), 0o600); err != nil { // 512: the head of the file
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
	if n := notesOf(t, dir); len(n) != 0 {
		t.Errorf("the log has all, and the disk %d notes", len(n))
	}
}

// TestVouchers_OneVoidedBeforeItsNoteIsReadIsRecorded: the program that let somebody in is killed, and somebody voids
// the voucher at another program before it is back. The voucher was sold. One that was voided before gives nothing.
func TestVouchers_OneVoidedBeforeItsNoteIsReadIsRecorded(t *testing.T) {
	t.Parallel()
	s, dir := newSafe(), t.TempDir()
	v, history := sell(s, calendar.Hour, 2)
	killed := newKit(t, s, history...)
	noted := killed.noting(dir)
	for n := range 2 {
		killed.accepted(typed([]string{phone, laptop}[n], v.codes[n]))
	}
	killed.stop()
	noted.Stop()

	k := newKit(t, s, append(history, events.VoucherVoided{VoucherSubject: v.subject(0), At: noon.Add(time.Minute)},
		events.VoucherVoided{VoucherSubject: v.subject(1), At: noon})...)
	noted = k.noting(dir)
	if in := k.recorded(1)[0]; in.Subject != v.subject(0) || !in.First.Equal(noon) || !in.At.Equal(noon) ||
		!in.Ends.Equal(noon.Add(time.Hour)) || in.MAC.String() != phone {
		t.Errorf("recorded %+v", in)
	}
	for n := range 2 {
		k.refused(typed(phone, v.codes[n]), directory.CodeVoucherVoid)
	}
	k.refused(hotspot(phone, phone, ""), directory.CodeUnknownUser)
	noted.Stop()
	if n := len(notesOf(t, dir)); n != 0 {
		t.Errorf("nothing is owed, and the disk has %d notes", n)
	}
}

// notesOf gives the notes in a directory that nobody has.
func notesOf(t *testing.T, dir string) (notes [][]byte) {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Config{Dir: filepath.Join(dir, "vouchers")},
		func(_ journal.Place, note []byte) { notes = append(notes, note) })
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	return notes
}

// TestVouchers_NotesOfAnOlderProgramAreRead: it was killed in the middle of a note.
func TestVouchers_NotesOfAnOlderProgramAreRead(t *testing.T) {
	t.Parallel()
	s, dir, old := newSafe(), t.TempDir(), t.TempDir()
	v, history := sell(s, calendar.Hour, 2)
	killed := newKit(t, s, history...)
	noted := killed.noting(dir)
	killed.accepted(typed(phone, v.codes[0]))
	killed.accepted(typed(laptop, v.codes[1]))
	killed.stop()
	noted.Stop()
	var file []byte
	for _, note := range notesOf(t, dir) {
		sum := crc32.Checksum(note, crc32.MakeTable(crc32.Castagnoli))
		file = append(binary.BigEndian.AppendUint32(append(file, note...), sum), note[:9]...)
	}
	path := filepath.Join(old, "vouchers.notes")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKit(t, s, history...)
	k.noting(old)
	if list := k.recorded(1); list[0].Subject != v.subject(0) || !list[0].First.Equal(noon) {
		t.Errorf("recorded %v", list)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old file is still there: %v", err)
	}
}

// TestVouchers_ANoteThatCannotBeRecordedKeepsNoOther: the notes of other vouchers are forgotten when they are recorded.
func TestVouchers_ANoteThatCannotBeRecordedKeepsNoOther(t *testing.T) {
	t.Parallel()
	s, dir := newSafe(), t.TempDir()
	v, history := sell(s, calendar.Hour, 3)
	k := newKit(t, s, history...)
	noted := k.noting(dir)
	for i := range 3 {
		k.accepted(typed(phone, v.codes[i]))
	}
	tried := make(chan struct{}, 100)
	r := directory.NewVoucherRecorder(k.dir, func(_ context.Context, in directory.VoucherSignIn) error {
		tried <- struct{}{}
		if in.Subject == v.subject(1) {
			return errors.New("not now")
		}
		return nil
	}, slog.New(slog.DiscardHandler))
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	for range 4 { // the one that fails comes twice at least, the second time after the others
		<-tried
	}
	for end := time.Now().Add(20 * time.Second); noted.Len() != 1; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d notes wait, want 1", noted.Len())
		}
	}
}

// TestVouchers_NotesOfAnOrganizationThatCannotBeReadAreKept: the event store is away, somebody signs in, and the
// program is killed. At the next start an event of the organization cannot be read, so nothing behind it is known; at
// the one after it can.
func TestVouchers_NotesOfAnOrganizationThatCannotBeReadAreKept(t *testing.T) {
	t.Parallel()
	s, dir := newSafe(), t.TempDir()
	v, history := sell(s, calendar.Hour, 1)
	killed := newKit(t, s, history...)
	noted := killed.noting(dir)
	killed.accepted(typed(phone, v.codes[0]))
	killed.stop()
	noted.Stop()

	unreadable := newKit(t, s, history[:len(history)-2]...)
	unreadable.dir.Leave(v.org)
	noted = unreadable.noting(dir)
	unreadable.stop()
	noted.Stop()
	if n := len(notesOf(t, dir)); n != 1 {
		t.Fatalf("%d notes on the disk while the organization cannot be read", n)
	}

	readable := newKit(t, s, history...)
	noted = readable.noting(dir)
	if list := readable.recorded(1); list[0].Subject != v.subject(0) || !list[0].First.Equal(noon) {
		t.Errorf("recorded %v", list)
	}
	noted.Stop()
	if n := len(notesOf(t, dir)); n != 0 {
		t.Errorf("the log has the sign-in, and the disk %d notes", n)
	}
}

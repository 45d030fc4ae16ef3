package paymentsjobs_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/journal"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/payments"
)

// keeper is a receiver that keeps callbacks in a directory of the test.
type keeper struct {
	paymentsjobs.Receiver
	away atomic.Bool // the database takes no writes, as far as the receiver knows
	left chan string // places that it has emptied, each with the number of callbacks in the inbox then
}

// keeping starts a receiver in a directory.
func (k *kit) keeping(t *testing.T, dir string, away bool) *keeper {
	t.Helper()
	out := k.opened(t, dir, away)
	if err := out.Kept.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out
}

// opened has a receiver in a directory take callbacks. It works on none, and takes nothing over.
func (k *kit) opened(t *testing.T, dir string, away bool) *keeper {
	t.Helper()
	ring, err := secrets.New(bytes.Repeat([]byte{7}, secrets.KeySize)) // that of coretest
	if err != nil {
		t.Fatal(err)
	}
	out := &keeper{
		Receiver: paymentsjobs.Receiver{Workers: k.workers, Inbox: paymentsjobs.NewInbox(k.workers)},
		left:     make(chan string, 20),
	}
	out.away.Store(away)
	out.Kept = paymentsjobs.NewKept(paymentsjobs.KeptConfig{
		Dir: dir, Written: func() bool { return !out.away.Load() }, Limits: vault.NewLocalLimits(k.clock),
		PerMinute: 100, Clock: k.clock, Logger: slog.New(slog.DiscardHandler),
		Ring: ring,
		Leave: func(ctx context.Context, place string) error {
			n, _, err := k.Vault.Inbox.Count(ctx, paymentsjobs.CauseUnknownPrompt)
			out.left <- fmt.Sprint(n, " ", place)
			return err
		},
	})
	if err := out.Kept.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	out.Kept.Serve(out.Receiver)
	t.Cleanup(out.Kept.Stop)
	return out
}

// confirms sends a paybill confirmation to a receiver.
func (r *keeper) confirms(t *testing.T, token, ip, number string) error {
	t.Helper()
	_, err := r.Receive(t.Context(), paymentsjobs.CallbackConfirmation, token, ip, paid(number, shortcode, "x", 1500),
		func(string) error { return nil })
	return err
}

// paybillToken gives the token in the callback address of the platform's paybill.
func (k *kit) paybillToken(t *testing.T) string {
	t.Helper()
	token, err := k.Vault.CallbackSecrets.Issue(t.Context(), vault.CallbackOwner{
		Kind: paymentsjobs.TokenPaybill, Ref: uuid.New(), Shortcode: shortcode,
	})
	if err != nil {
		t.Fatal(err)
	}
	return token.Reveal()
}

// waiting waits until the inbox has as many callbacks to handle, and none is on the disk.
func (k *kit) waiting(t *testing.T, r *keeper, want int64) {
	t.Helper()
	var n int64
	for range 6000 { // a minute, which only a fault takes
		var err error
		if n, _, err = k.Vault.Inbox.Count(t.Context(), paymentsjobs.CauseUnknownPrompt); err != nil {
			t.Fatal(err)
		}
		if n == want && r.Kept.Empty() {
			return
		}
		loop.Sleep(t.Context(), 10*time.Millisecond)
	}
	t.Fatalf("%d callbacks are in the inbox, want %d, and %d on the disk", n, want, r.Kept.Len())
}

// TestKept_WhatAProgramHasThatStandsByIsStoredByTheOneThatServes: it has no inbox, and would store its callbacks only
// when it serves itself. One that cannot be read by the other one holds up nothing.
func TestKept_WhatAProgramHasThatStandsByIsStoredByTheOneThatServes(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	token := k.paybillToken(t)
	waits := k.opened(t, t.TempDir(), true)
	for i := range 3 {
		if err := waits.confirms(t, token, "196.201.214.200", fmt.Sprintf("SJK4X7Q2P%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	k.waitsOnDisk(t, waits, 3)
	put := func(ctx context.Context, sealed [][]byte) error { return vault.HandOver(ctx, k.DB, sealed) }
	other, err := secrets.New(bytes.Repeat([]byte{8}, secrets.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	if err := put(t.Context(), [][]byte{vault.SealKept(other, []byte("{}"))}); err != nil {
		t.Fatal(err)
	}
	if n, err := waits.Kept.HandOver(t.Context(), put); err != nil || n != 3 || !waits.Kept.Empty() {
		t.Fatalf("%d were handed over, %v; %d are left", n, err, waits.Kept.Len())
	}
	serves := k.keeping(t, t.TempDir(), false)
	k.waiting(t, serves, 3)
	var left int
	if err := k.DB.Owner.QueryRow(t.Context(), `select count(*) from `+k.DB.Namespace.Schema("vault")+
		`.handed_callbacks`).Scan(&left); err != nil || left != 1 {
		t.Errorf("%d are left for later, %v", left, err)
	}
}

// TestKept_WhatOtherProgramsLeftOnTheDiskOfAStandByIsHandedOver: it alone can read that disk. Their places are left
// only when it serves, since only then everything is known to be in the inbox.
func TestKept_WhatOtherProgramsLeftOnTheDiskOfAStandByIsHandedOver(t *testing.T) {
	t.Parallel()
	k, dir := newKit(t), t.TempDir()
	gone := k.opened(t, dir, true)
	if err := gone.confirms(t, k.paybillToken(t), "196.201.214.200", "SJK4X7Q2PB"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "callbacks"), filepath.Join(dir, "callbacks-2")); err != nil {
		t.Fatal(err)
	}
	waits := k.opened(t, dir, true)
	for want := range 2 { // what the other one has still is left alone until it has gone
		n, err := waits.Kept.HandOver(t.Context(), func(ctx context.Context, sealed [][]byte) error {
			return vault.HandOver(ctx, k.DB, sealed)
		})
		if err != nil || n != want {
			t.Fatalf("%d were handed over, want %d: %v", n, want, err)
		}
		gone.Kept.Stop()
	}
	k.waiting(t, k.keeping(t, t.TempDir(), false), 1)
	if err := waits.Kept.Start(t.Context()); err != nil { // it takes over
		t.Fatal(err)
	}
	waits.away.Store(false)
	if left, want := <-waits.left, "1 "+gone.Kept.Place(); left != want {
		t.Errorf("left %q, want %q", left, want)
	}
}

func TestKept_MoneyThatCameWithoutADatabaseIsHandledAfterTheNextStart(t *testing.T) {
	t.Parallel()
	k, dir := newKit(t), t.TempDir()
	token := k.paybillToken(t)
	r := k.keeping(t, dir, true)
	for i := range 3 {
		if err := r.confirms(t, token, "196.201.214.200", fmt.Sprintf("SJK4X7Q2P%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	k.waitsOnDisk(t, r, 3)
	octets, err := os.ReadFile(filepath.Join(dir, "callbacks", "00000001"))
	if err != nil || bytes.Contains(octets, []byte("254712345678")) || bytes.Contains(octets, []byte(token)) {
		t.Errorf("the file can be read by everybody: %v", err)
	}
	r.Kept.Stop()
	next := k.keeping(t, dir, false)
	k.waiting(t, next, 3)
	for range 3 {
		if _, err := k.workers.HandleDue(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		number := fmt.Sprintf("SJK4X7Q2P%d", i)
		s := k.receipt(t, commands.ReceiptID(commands.EnvironmentSandbox, number))
		if s.Amount.Minor != 150_000 {
			t.Errorf("receipt %s: %+v", number, s)
		}
	}
	next.Kept.Stop()
	// Killed before that was forgotten: everything is stored once more, and nothing comes of it.
	if err := os.WriteFile(filepath.Join(dir, "callbacks", "00000001"), octets, 0o600); err != nil {
		t.Fatal(err)
	}
	k.waiting(t, k.keeping(t, dir, false), 0)
}

// waitsOnDisk checks how many callbacks wait on the disk, and that none is in the inbox.
func (k *kit) waitsOnDisk(t *testing.T, r *keeper, want int) {
	t.Helper()
	n, _, err := k.Vault.Inbox.Count(t.Context(), paymentsjobs.CauseUnknownPrompt)
	if n != 0 || err != nil || r.Kept.Len() != want {
		t.Errorf("%d callbacks are in the inbox, %d on the disk, want %d: %v", n, r.Kept.Len(), want, err)
	}
}

func TestKept_AFloodDoesNotKeepRealMoneyOut(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	token := k.paybillToken(t)
	r := k.keeping(t, t.TempDir(), true)
	refused := 0
	for i := range 300 {
		err := r.confirms(t, fmt.Sprint("invented", i), "198.51.100.7", fmt.Sprintf("SJK4X7QA%02d", i%100))
		if failure.CodeOf(err) == "rate_limited" {
			refused++
		}
	}
	if refused != 200 {
		t.Errorf("%d of 300 callbacks of a stranger were refused", refused)
	}
	for i := range 300 {
		if err := r.confirms(t, token, "198.51.100.7", fmt.Sprintf("SJK4X7QB%02d", i%100)); err != nil {
			t.Fatal(err)
		}
	}
	k.waitsOnDisk(t, r, 400)
	answer, err := r.Receive(t.Context(), paymentsjobs.CallbackConfirmation, token, "198.51.100.7", []byte("no JSON"),
		func(string) error { return nil })
	if failure.CodeOf(err) != "malformed_callback" || r.Kept.Len() != 401 {
		t.Errorf("a body that nobody can read is answered %v, %v", answer, err)
	}
	r.away.Store(false)
	k.waiting(t, r, 401)
}

// TestKept_WhatADeadProgramLeftIsTakenOver: two programs that share a directory die together, before one could take
// over what the other one has left.
func TestKept_WhatADeadProgramLeftIsTakenOver(t *testing.T) {
	t.Parallel()
	k, dir := newKit(t), t.TempDir()
	token := k.paybillToken(t)
	first, second := k.opened(t, dir, true), k.opened(t, dir, true)
	for i, r := range []*keeper{first, second} {
		if err := r.confirms(t, token, "196.201.214.200", fmt.Sprintf("SJK4X7QC0%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := fs.Glob(os.DirFS(dir), "callbacks*")
	if err != nil || len(files) != 2 {
		t.Fatalf("two programs have %v: %v", files, err)
	}
	first.Kept.Stop()
	second.Kept.Stop()
	k.waiting(t, k.keeping(t, dir, false), 2)
}

// TestKept_APlaceIsLeftWhenWhatWasThereIsInTheInbox: a program stops, is started again without its database, and stops.
// Another one, with another journal in the same directory, takes over what it has left.
func TestKept_APlaceIsLeftWhenWhatWasThereIsInTheInbox(t *testing.T) {
	t.Parallel()
	k, dir := newKit(t), t.TempDir()
	first := k.keeping(t, dir, true)
	if err := first.confirms(t, k.paybillToken(t), "196.201.214.200", "SJK4X7QC09"); err != nil {
		t.Fatal(err)
	}
	first.Kept.Stop()
	again := k.keeping(t, dir, true)
	again.Kept.Stop()
	if again.Kept.Place() != first.Kept.Place() {
		t.Errorf("after a restart %q is %q", first.Kept.Place(), again.Kept.Place())
	}
	if err := os.Rename(filepath.Join(dir, "callbacks"), filepath.Join(dir, "callbacks-2")); err != nil {
		t.Fatal(err)
	}
	second := k.keeping(t, dir, true)
	for range 1000 {
		if second.Kept.Len() == 1 {
			break
		}
		loop.Sleep(t.Context(), 10*time.Millisecond)
	}
	if second.Kept.Len() != 1 || len(second.left) > 0 {
		t.Errorf("%d are taken over, and %d places left before they are in the inbox", second.Kept.Len(),
			len(second.left))
	}
	second.away.Store(false)
	k.waiting(t, second, 1)
	if left, want := <-second.left, "1 "+first.Kept.Place(); left != want {
		t.Errorf("left %q, want %q", left, want)
	}
	third := k.keeping(t, dir, false) // with the journal that was taken over
	for _, before := range []*keeper{first, second} {
		if third.Kept.Place() == before.Kept.Place() {
			t.Errorf("the next program is at the place of another one: %s", third.Kept.Place())
		}
	}
}

// TestKept_WhatAnOlderProgramLeftIsTakenOver: the first callback is damaged on the disk, the last one was not finished.
func TestKept_WhatAnOlderProgramLeftIsTakenOver(t *testing.T) {
	t.Parallel()
	k, dir := newKit(t), t.TempDir()
	token := k.paybillToken(t)
	r := k.keeping(t, dir, true)
	for i := range 4 {
		if err := r.confirms(t, token, "196.201.214.200", fmt.Sprintf("SJK4X7QE0%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	r.Kept.Stop()
	var old []byte
	table := crc32.MakeTable(crc32.Castagnoli)
	q, err := journal.OpenQueue(t.Context(), journal.Config{Dir: filepath.Join(dir, "callbacks")})
	if err != nil {
		t.Fatal(err)
	}
	records, places, err := q.Next(10)
	if err != nil {
		t.Fatal(err)
	}
	for i, record := range records {
		length := binary.BigEndian.AppendUint32(nil, uint32(len(record))) //nolint:gosec // short
		sum := crc32.Update(crc32.Checksum(length, table), table, record)
		old = append(append(old, "\xf1LMJ"...), length...)
		old = append(binary.BigEndian.AppendUint32(old, sum), record...)
		if i == 0 {
			old[len(old)-1] ^= 1
		}
	}
	if err := q.Taken(places); err != nil {
		t.Fatal(err)
	}
	q.Close()
	file := filepath.Join(dir, "callbacks-2.journal")
	if err := os.WriteFile(file, old[:len(old)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	r = k.keeping(t, dir, false)
	k.waiting(t, r, 2)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if left, want := <-r.left, "2 "+host+":"+filepath.Join(dir, "callbacks"); left != want { // its name for the place
		t.Errorf("left %q, want %q", left, want)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old file is still there: %v", err)
	}
}

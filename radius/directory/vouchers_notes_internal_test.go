package directory

import (
	"log/slog"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestVouchers_ADiskThatFailsKeepsNobodyOut: the customer has paid, and accounting brings the sign-in again.
func TestVouchers_ADiskThatFailsKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	d := New(Config{ClassKey: []byte("key")})
	n := NewVoucherNotes(d, t.TempDir(), slog.New(slog.DiscardHandler))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	n.journal.Close()
	sent := make(chan bool)
	for range 2 {
		d.vouchers.noteFirst(note{pass: voucherPass{voucher: id.New[id.Voucher]()}}, func() { close(sent) })
		<-sent
		sent = make(chan bool)
	}
}

// Len is the number of notes that the disk has to keep.
func (n *VoucherNotes) Len() int { return n.journal.Len() }

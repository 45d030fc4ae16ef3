package access

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// VoucherBatches defines vouchers that were made together. Vouchers that nobody has used exist in the stream of their
// batch alone, so 5,000 of them are one append.
func VoucherBatches() aggregates.Definition[
	VoucherBatch, commands.VoucherBatchCommand, events.VoucherBatchEvent,
] {
	return aggregates.Definition[VoucherBatch, commands.VoucherBatchCommand, events.VoucherBatchEvent]{
		Category: commands.VoucherBatchCategory, Missing: commands.ErrNotFound, Evolve: evolveVoucherBatch,
		Decide: decideVoucherBatch, Owner: func(s VoucherBatch) id.Organization { return s.Made.OrgID },
		Commands: []commands.VoucherBatchCommand{commands.MakeVouchers{}},
	}
}

// VoucherBatch is a batch as it was made; it never changes. The zero value is "does not exist".
type VoucherBatch struct {
	Made events.VoucherBatchMade
}

// evolveVoucherBatch applies one recorded event. Which vouchers there are decides nothing here.
func evolveVoucherBatch(s VoucherBatch, e events.VoucherBatchEvent) VoucherBatch {
	switch e := e.(type) {
	case events.VoucherBatchMade:
		s.Made = e
	case events.VouchersAdded:
	}
	return s
}

// decideVoucherBatch makes a batch once.
func decideVoucherBatch(
	s VoucherBatch, c commands.VoucherBatchCommand, now time.Time,
) ([]events.VoucherBatchEvent, error) {
	switch c := c.(type) {
	case commands.MakeVouchers:
		if !s.Made.BatchID.IsZero() {
			return nil, nil
		}
		made := []events.VoucherBatchEvent{events.VoucherBatchMade{
			BatchID: c.BatchID, OrgID: c.OrgID, PlanID: c.PlanID, PlanVersion: c.PlanVersion, Terms: c.Terms,
			Prefix: c.Prefix, Count: len(c.Vouchers), MadeBy: c.MadeBy, At: now,
		}}
		for block := range slices.Chunk(c.Vouchers, commands.VoucherBlock) {
			made = append(made, events.VouchersAdded{BatchID: c.BatchID, OrgID: c.OrgID, Vouchers: block})
		}
		return made, nil
	}
	return nil, nil
}

// Vouchers defines what became of single vouchers: one stream for each that was used or voided.
func Vouchers() aggregates.Definition[Voucher, commands.VoucherCommand, events.VoucherEvent] {
	return aggregates.Definition[Voucher, commands.VoucherCommand, events.VoucherEvent]{
		Category: commands.VoucherCategory, Missing: commands.ErrNoVoucher, Evolve: evolveVoucher,
		Decide: decideVoucher, Owner: func(s Voucher) id.Organization { return s.Subject.OrgID },
		Commands: []commands.VoucherCommand{commands.SignInVoucher{}, commands.VoidVoucher{}},
	}
}

// Voucher says which device has a voucher and until when, or that it is void. The zero value is "nobody has used it".
type Voucher struct {
	Subject  events.VoucherSubject
	DeviceID id.Device
	MAC      personal.Text // of the device that has it
	FirstAt  time.Time     // of the first sign-in; zero = none
	EndsAt   time.Time
	LastAt   time.Time // when the device that has it signed in first
	VoidedAt time.Time // zero = it is not void
}

// void reports whether it gives nothing any more.
func (s Voucher) void() bool { return !s.VoidedAt.IsZero() }

// evolveVoucher applies one recorded event.
func evolveVoucher(s Voucher, e events.VoucherEvent) Voucher {
	switch e := e.(type) {
	case events.VoucherRedeemed:
		s.Subject, s.DeviceID, s.MAC = e.VoucherSubject, e.DeviceID, e.MAC
		s.FirstAt, s.EndsAt, s.LastAt = e.At, e.EndsAt, e.At
	case events.VoucherBeganEarlier:
		s.FirstAt, s.EndsAt = e.At, e.EndsAt
	case events.VoucherMoved:
		s.DeviceID, s.MAC, s.LastAt = e.DeviceID, e.MAC, e.At
	case events.VoucherVoided:
		s.Subject, s.VoidedAt = e.VoucherSubject, e.At
	}
	return s
}

// decideVoucher only dispatches.
func decideVoucher(s Voucher, c commands.VoucherCommand, now time.Time) ([]events.VoucherEvent, error) {
	switch c := c.(type) {
	case commands.SignInVoucher:
		return decideSignInVoucher(s, c)
	case commands.VoidVoucher:
		return decideVoidVoucher(s, c, now)
	}
	return nil, nil
}

// decideSignInVoucher records what a router was told already, so it does not judge again whether the time is over or
// the device has changed too often. Several servers can let somebody in before they know of each other: the time runs
// from the first sign-in of all, whatever is recorded first, and the other ones are moves. A sign-in from before the
// last move is known to be over. What was before the voiding is recorded after it too, because the voucher was sold.
func decideSignInVoucher(s Voucher, c commands.SignInVoucher) ([]events.VoucherEvent, error) {
	switch {
	case s.void() && !c.FirstAt.Before(s.VoidedAt):
		return nil, failure.NewConflict("voucher_void", "This voucher is void.")
	case s.FirstAt.IsZero():
		redeemed := events.VoucherRedeemed{
			VoucherSubject: c.Subject, PlanID: c.PlanID, Price: c.Price, MadeBy: c.MadeBy, DeviceID: c.DeviceID,
			MAC: c.MAC, At: c.FirstAt, EndsAt: c.EndsAt,
		}
		return []events.VoucherEvent{redeemed}, nil
	}
	var list []events.VoucherEvent
	if c.FirstAt.Before(s.FirstAt) {
		earlier := events.VoucherBeganEarlier{
			VoucherSubject: s.Subject, DeviceID: c.DeviceID, At: c.FirstAt, EndsAt: c.EndsAt,
		}
		list, s = append(list, earlier), evolveVoucher(s, earlier)
	}
	if s.MAC.Equal(c.MAC) || !c.At.After(s.LastAt) || !c.At.Before(s.EndsAt) || s.void() && !c.At.Before(s.VoidedAt) {
		return list, nil
	}
	return append(list, events.VoucherMoved{
		VoucherSubject: s.Subject, DeviceID: c.DeviceID, MAC: c.MAC, FormerDeviceID: s.DeviceID, FormerMAC: s.MAC,
		At: c.At,
	}), nil
}

// decideVoidVoucher voids once. A voucher that is used up gives nothing already, and to void it would hide that.
func decideVoidVoucher(s Voucher, c commands.VoidVoucher, now time.Time) ([]events.VoucherEvent, error) {
	used := !s.FirstAt.IsZero()
	switch {
	case s.void():
		return nil, nil
	case used && !now.Before(s.EndsAt):
		return nil, failure.NewConflict("voucher_used", "This voucher is used up.")
	case used && c.Unused:
		return nil, commands.ErrVoucherInUse()
	}
	return []events.VoucherEvent{events.VoucherVoided{VoucherSubject: c.Subject, Redeemed: used, At: now}}, nil
}

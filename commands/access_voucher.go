package commands

import (
	"regexp"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Categories of vouchers and of their batches.
const (
	VoucherBatchCategory = "voucherbatch"
	VoucherCategory      = "voucher"
)

// Bounds on vouchers.
const (
	MaxVouchers  = 5_000 // in a batch
	VoucherBlock = 1_000 // ids in one event
)

// hotspotKind is the kind of plan that vouchers are for.
const hotspotKind = "hotspot"

// voucherPrefix is the form of the prefix of codes; longer ones are hard to type.
var voucherPrefix = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9-]{0,9})?$`)

// VoucherBatchCommand is a command to "voucherbatch-<id>".
//
//sumtype:decl
type VoucherBatchCommand interface {
	Command
	voucherBatchCommand()
}

// MakeVouchers makes a batch.
type MakeVouchers struct {
	BatchID     id.VoucherBatch
	OrgID       id.Organization
	PlanID      id.Plan
	PlanVersion int
	Terms       events.PlanTerms
	Prefix      string
	Vouchers    []id.Voucher
	MadeBy      id.User // zero = no signed-in person
}

func (MakeVouchers) CommandName() string  { return "access.MakeVouchers" }
func (MakeVouchers) voucherBatchCommand() {}
func (c MakeVouchers) Target() Target     { return At(VoucherBatchCategory, c.BatchID) }

// Validate checks the form, and that the plan can be used for a time that begins with the first sign-in.
func (c MakeVouchers) Validate() error {
	var f failure.Faults
	CheckVouchers(&f, len(c.Vouchers), c.Prefix, c.Terms)
	return f.Err()
}

// CheckVouchers adds the faults of a batch that somebody asks for. The plan must be paid before use, because a voucher
// has no account that could be invoiced.
func CheckVouchers(f *failure.Faults, count int, prefix string, terms events.PlanTerms) {
	f.Check(count >= 1 && count <= MaxVouchers, "count", "must be from %d to %d", 1, MaxVouchers)
	f.Check(voucherPrefix.MatchString(prefix), "prefix", "must have at most 10 letters, digits or -")
	f.Check(terms.Kind == hotspotKind && terms.Mode == events.Prepaid && terms.Period.Known(), "planId",
		"must be a prepaid hotspot plan")
}

// VoucherCommand is a command to "voucher-<id>".
//
//sumtype:decl
type VoucherCommand interface {
	Command
	voucherCommand()
}

// SignInVoucher records a sign-in that a router was told to accept: the first one redeems the voucher, one of another
// device moves it, all others change nothing. Fails: voucher_void when the first one was not before the voiding.
type SignInVoucher struct {
	Subject  events.VoucherSubject
	PlanID   id.Plan
	Price    money.Amount
	MadeBy   id.User
	DeviceID id.Device
	MAC      personal.Text
	FirstAt  time.Time // of the first sign-in, as far as the router's server knows
	EndsAt   time.Time // of the voucher's time when the first sign-in was at FirstAt
	At       time.Time // of this sign-in
}

// VoidVoucher makes a voucher useless, whether it is in use or not. Fails: voucher_used, voucher_in_use.
type VoidVoucher struct {
	Subject events.VoucherSubject
	Reason  string
	Unused  bool // only as long as the log has no sign-in with it
}

func (SignInVoucher) CommandName() string { return "access.SignInVoucher" }
func (VoidVoucher) CommandName() string   { return "access.VoidVoucher" }
func (SignInVoucher) voucherCommand()     {}
func (VoidVoucher) voucherCommand()       {}
func (c SignInVoucher) Target() Target    { return At(VoucherCategory, c.Subject.VoucherID) }
func (c VoidVoucher) Target() Target      { return At(VoucherCategory, c.Subject.VoucherID) }

// Validate checks the order of the instants.
func (c SignInVoucher) Validate() error {
	var f failure.Faults
	f.Check(!c.FirstAt.IsZero() && c.EndsAt.After(c.FirstAt), "endsAt", "must be after firstAt")
	return f.Err()
}

// Validate checks the reason, which is required.
func (c VoidVoucher) Validate() error { return requireReason(c.Reason) }

// ErrNoVoucherBatch is the failure for a batch that the organization does not have.
func ErrNoVoucherBatch() error {
	return failure.NewNotFound("voucher_batch_not_found", "There is no such batch of vouchers.")
}

// ErrVoucherInUse is the failure for a voucher that was to be voided only if unused.
func ErrVoucherInUse() error {
	return failure.NewConflict("voucher_in_use", "Somebody has signed in with this voucher.")
}

// ErrNoVoucher is the failure for a code that is no voucher of the organization. It tells nothing more.
func ErrNoVoucher() error {
	return failure.NewNotFound("voucher_not_found", "There is no such voucher.")
}

package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// VoucherBatchEvent is an event of "voucherbatch-<id>": vouchers that were made together.
//
//sumtype:decl
type VoucherBatchEvent interface {
	Event
	voucherBatchEvent()
}

// VoucherBatchMade records that vouchers were made. Their codes are in no event; VouchersAdded has their ids.
type VoucherBatchMade struct {
	BatchID     id.VoucherBatch `json:"batchId"`
	OrgID       id.Organization `json:"orgId"`
	PlanID      id.Plan         `json:"planId"`
	PlanVersion int             `json:"planVersion"`
	Terms       PlanTerms       `json:"terms"`  // that the vouchers keep; one period of them is the time of a voucher
	Prefix      string          `json:"prefix"` // with which every code begins; "" = none
	Count       int             `json:"count"`
	MadeBy      id.User         `json:"madeBy"` // zero = no signed-in person
	At          time.Time       `json:"at"`
}

// VouchersAdded records some vouchers of a batch, at most commands.VoucherBlock. The ids are derived from organization
// and code under a key, so nobody finds a code by trying them.
type VouchersAdded struct {
	BatchID  id.VoucherBatch `json:"batchId"`
	OrgID    id.Organization `json:"orgId"`
	Vouchers []id.Voucher    `json:"vouchers"`
}

// VoucherEvent is an event of "voucher-<id>". The stream of a voucher begins when somebody signs in with it or voids
// it.
//
//sumtype:decl
type VoucherEvent interface {
	Event
	voucherEvent()
}

// VoucherSubject says which voucher an event is about.
type VoucherSubject struct {
	VoucherID id.Voucher      `json:"voucherId"`
	OrgID     id.Organization `json:"orgId"`
	BatchID   id.VoucherBatch `json:"batchId"`
}

// VoucherRedeemed records the first sign-in with a voucher, from which its time runs. At this moment it counts as sold.
type VoucherRedeemed struct {
	VoucherSubject
	PlanID   id.Plan       `json:"planId"`
	Price    money.Amount  `json:"price"`
	MadeBy   id.User       `json:"madeBy"`   // of the batch; zero = no signed-in person
	DeviceID id.Device     `json:"deviceId"` // the router
	MAC      personal.Text `json:"mac"`      // of the customer's device, "AA:BB:CC:DD:EE:FF"; empty = not told
	At       time.Time     `json:"at"`       // of the sign-in
	EndsAt   time.Time     `json:"endsAt"`   // first instant at which the voucher is used up
}

// VoucherBeganEarlier records that a sign-in became known which was before the first one in the log: another program
// had let somebody in while it could record nothing. The time of the voucher runs from it. What was sold stays sold on
// the day of VoucherRedeemed.
type VoucherBeganEarlier struct {
	VoucherSubject
	DeviceID id.Device `json:"deviceId"` // the router
	At       time.Time `json:"at"`       // of the sign-in
	EndsAt   time.Time `json:"endsAt"`   // first instant at which the voucher is used up
}

// VoucherMoved records that another device signed in with the voucher. The session of the one before has to end.
type VoucherMoved struct {
	VoucherSubject
	DeviceID       id.Device     `json:"deviceId"` // the router
	MAC            personal.Text `json:"mac"`
	FormerDeviceID id.Device     `json:"formerDeviceId"`
	FormerMAC      personal.Text `json:"formerMac"`
	At             time.Time     `json:"at"` // of the sign-in
}

// VoucherVoided records that a voucher gives nothing from now on. Its session has to end. The metadata have the reason.
// A sign-in from before it may be recorded after it; then it was sold too.
type VoucherVoided struct {
	VoucherSubject
	Redeemed bool      `json:"redeemed"` // the log had a sign-in with it; it stays sold
	At       time.Time `json:"at"`
}

func (VoucherBatchMade) EventType() string    { return "access.VoucherBatchMade.v1" }
func (VouchersAdded) EventType() string       { return "access.VouchersAdded.v1" }
func (VoucherRedeemed) EventType() string     { return "access.VoucherRedeemed.v1" }
func (VoucherBeganEarlier) EventType() string { return "access.VoucherBeganEarlier.v1" }
func (VoucherMoved) EventType() string        { return "access.VoucherMoved.v1" }
func (VoucherVoided) EventType() string       { return "access.VoucherVoided.v1" }

func (VoucherBatchMade) voucherBatchEvent() {}
func (VouchersAdded) voucherBatchEvent()    {}
func (VoucherRedeemed) voucherEvent()       {}
func (VoucherBeganEarlier) voucherEvent()   {}
func (VoucherMoved) voucherEvent()          {}
func (VoucherVoided) voucherEvent()         {}

func (e VoucherRedeemed) PersonalSubject() uuid.UUID { return e.VoucherID.UUID() }
func (e VoucherMoved) PersonalSubject() uuid.UUID    { return e.VoucherID.UUID() }

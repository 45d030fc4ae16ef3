package directory

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// Code names why a sign-in was refused. Codes are part of the API and never change their meaning.
type Code string

// The codes.
const (
	CodeUnknownUser   Code = "unknown_user"
	CodeWrongPassword Code = "wrong_password"
	CodeNoProof       Code = "no_proof"
	CodeBadRequest    Code = "bad_request"
	CodeWrongMAC      Code = "wrong_mac"
	CodeSessionLimit  Code = "session_limit"
	CodeUnpaid        Code = "unpaid"
	CodeBlocked       Code = "blocked"
	CodePaused        Code = "paused"
	CodeNotStarted    Code = "not_started"
	CodeEnded         Code = "ended"
	CodeCapReached    Code = "cap_reached"
	CodeVoucherUsed   Code = "voucher_used"
	CodeVoucherVoid   Code = "voucher_void"
	CodeVoucherMoves  Code = "voucher_moves"  // it changed from device to device too often
	CodeVoucherMoved  Code = "voucher_moved"  // another device has just taken it over from this one
	CodeTooManyCodes  Code = "too_many_codes" // wrong codes or passwords were tried from this device
	// CodeNoSession is of sign-ins that were accepted: no session began, and the device dialled again.
	CodeNoSession Code = "no_session"
)

// proofRefusals are the codes of proofs that failed.
var proofRefusals = [...]Code{
	radius.UnknownUser: CodeUnknownUser, radius.Verified: CodeUnknownUser, radius.WrongPassword: CodeWrongPassword,
	radius.NoProof: CodeNoProof, radius.BadRequest: CodeBadRequest,
}

// refusalOf is the code of a refusal that follows from an entitlement.
func refusalOf(reason entitlement.Code) Code {
	switch reason { //nolint:exhaustive // all others are about money
	case entitlement.CodeBlocked:
		return CodeBlocked
	case entitlement.CodePaused:
		return CodePaused
	case entitlement.CodeNotStarted:
		return CodeNotStarted
	case entitlement.CodeEnded:
		return CodeEnded
	case entitlement.CodeCapStopped:
		return CodeCapReached
	}
	return CodeUnpaid
}

// Message is the text that a customer's equipment shows.
func (c Code) Message() string {
	switch c {
	case CodeUnknownUser:
		return "This name is not known here. Check the username."
	case CodeWrongPassword:
		return "The password is wrong."
	case CodeNoProof:
		return "No password was sent in a form that is supported. Use PAP, CHAP or MS-CHAP."
	case CodeWrongMAC:
		return "This device is not registered for this account."
	case CodeSessionLimit:
		return "This account is in use on as many devices as the plan allows."
	case CodeUnpaid:
		return "This account is not paid. Please pay to go online."
	case CodeBlocked:
		return "This account is blocked. Please call your provider."
	case CodePaused:
		return "This account is paused. Please call your provider."
	case CodeNotStarted:
		return "The service of this account has not started yet."
	case CodeEnded:
		return "This account has ended."
	case CodeCapReached:
		return "The traffic of this plan is used up."
	case CodeVoucherUsed:
		return "This voucher is used up. Please get another one."
	case CodeVoucherVoid:
		return "This voucher is not valid any more. Please ask where you bought it."
	case CodeVoucherMoved:
		return "Another device has just taken this voucher over. To have it back here, try again in two minutes."
	case CodeVoucherMoves:
		return "This voucher was moved to another device too often. Use it on the last device, or try again tomorrow."
	case CodeTooManyCodes:
		return "Too many wrong codes or passwords. Wait some minutes and try again."
	case CodeBadRequest, CodeNoSession: // the latter is never sent
	}
	return "The router sent a request that contradicts itself."
}

// maxWaiting is the number of kinds of refusals that wait to be made durable. An organization may have what is free as
// long as it then has no more than what is left for the others. In a flood, further kinds are left out until the next
// time they are written.
const maxWaiting = 40_000

// kind tells refusals apart. Each UTC day has its own, because that is how they are kept.
type kind struct {
	org          id.Organization
	subscriber   id.Subscriber
	subscription id.Subscription
	device       id.Device
	code         string
	day          int64
}

// Refusals counts refused sign-ins until they are made durable, and those that were accepted in vain. It notes beside
// them when sign-ins last proved that a router has a line. Safe for concurrent use.
type Refusals struct {
	clock    clock.Clock
	seed     maphash.Seed
	mu       sync.Mutex
	waiting  map[kind]telemetry.Refusal
	room     fair.Room // of the waiting
	dials    map[caller]dial
	dialRoom fair.Room
	letIn    map[id.Device]time.Time
	tries    tries
}

// letInEvery is how often it is noted that a router has a line.
const letInEvery = time.Minute

// NewRefusals makes an empty tally. The clock is the one by which sign-ins have their instants.
func NewRefusals(now clock.Clock) *Refusals {
	r := &Refusals{
		clock: now, seed: maphash.MakeSeed(), dials: map[caller]dial{}, dialRoom: fair.Room{Capacity: maxDials},
		letIn: map[id.Device]time.Time{},
	}
	r.empty()
	return r
}

// empty leaves nothing waiting. The caller holds the lock.
func (r *Refusals) empty() {
	r.waiting, r.room = map[kind]telemetry.Refusal{}, fair.Room{Capacity: maxWaiting}
}

// count adds refusals of one kind, which have the instant of the latest one.
func (r *Refusals) count(one telemetry.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(one)
}

// add adds refusals of one kind. The caller holds the lock.
func (r *Refusals) add(one telemetry.Refusal) {
	key := kind{
		one.OrgID, one.SubscriberID, one.SubscriptionID, one.DeviceID, one.Code,
		one.At.Unix() / int64(24*time.Hour/time.Second),
	}
	known, has := r.waiting[key]
	switch {
	case has:
		known.Count += one.Count
		if one.At.After(known.At) {
			known.At = one.At
		}
		if one.FirstAt.Before(known.FirstAt) {
			known.FirstAt = one.FirstAt
		}
		r.waiting[key] = known
	case r.room.Take(one.OrgID, 1):
		r.waiting[key] = one
	}
}

// Drain implements telemetry.RefusalSource.
func (r *Refusals) Drain() []telemetry.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settleAll()
	if len(r.waiting) == 0 {
		return nil
	}
	all := make([]telemetry.Refusal, 0, len(r.waiting))
	for _, one := range r.waiting {
		all = append(all, one)
	}
	r.empty()
	return all
}

// Return implements telemetry.RefusalSource.
func (r *Refusals) Return(list []telemetry.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range list {
		r.add(one)
	}
}

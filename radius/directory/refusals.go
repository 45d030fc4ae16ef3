package directory

import (
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
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
	case CodeBadRequest:
	}
	return "The router sent a request that contradicts itself."
}

// Refusal counts refused sign-ins of one kind at one router.
type Refusal struct {
	OrgID          id.Organization
	SubscriptionID id.Subscription // zero for an unknown user
	DeviceID       id.Device
	Code           Code
	At             time.Time // the latest one
	Count          int
}

// Bounds of what is remembered: kinds of refusals in all, and of one subscription.
const (
	maxRefused = 20_000
	maxKinds   = 8
)

// refused is the key of the tally.
type refused struct {
	org          id.Organization
	subscription id.Subscription
}

// Refusals remembers refused sign-ins in memory, the latest kinds of each subscription. Safe for concurrent use.
type Refusals struct {
	mu    sync.Mutex
	known map[refused][]Refusal // each list by time, the latest last
	fresh map[refused]bool      // changed since the last Drain
}

// NewRefusals makes an empty tally.
func NewRefusals() *Refusals {
	return &Refusals{known: map[refused][]Refusal{}, fresh: map[refused]bool{}}
}

// count adds one refusal. When there is no room, it replaces what is known of any other subscription.
func (r *Refusals) count(one Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := refused{one.OrgID, one.SubscriptionID}
	list, known := r.known[key]
	if !known && len(r.known) >= maxRefused {
		for other := range r.known {
			delete(r.known, other)
			delete(r.fresh, other)
			break
		}
	}
	one.Count = 1
	if at := slices.IndexFunc(list, func(o Refusal) bool {
		return o.Code == one.Code && o.DeviceID == one.DeviceID
	}); at >= 0 {
		one.Count += list[at].Count
		list = slices.Delete(list, at, at+1)
	} else if len(list) == maxKinds {
		list = slices.Delete(list, 0, 1)
	}
	r.known[key] = append(list, one)
	r.fresh[key] = true
}

// Of lists the refusals of a subscription, the latest first; with a zero one those of unknown users.
func (r *Refusals) Of(org id.Organization, subscription id.Subscription) []Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.Clone(r.known[refused{org, subscription}])
	slices.Reverse(list)
	return list
}

// Drain lists what has changed since the last call, for whoever makes it durable. Counts go on from where they are.
func (r *Refusals) Drain() []Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Refusal
	for key := range r.fresh {
		all = append(all, r.known[key]...)
	}
	clear(r.fresh)
	return all
}

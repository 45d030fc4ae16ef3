package directory

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
)

// maxTries is the number of kinds of refused sign-ins that wait to be written, in shares of the organizations. Beyond
// it they are counted without their details.
const maxTries = 8_000

// tryKey tells refused sign-ins apart by what the router sent.
type tryKey struct {
	kind
	username, calling string
}

// tries has refused sign-ins with what the router sent, until they are written. The zero value is empty.
type tries struct {
	waiting map[tryKey]telemetry.Try
	room    fair.Room
}

// tryOf is a refused sign-in as its router sent it.
func tryOf(r telemetry.Refusal, q *radius.Request) telemetry.Try {
	calling := q.MAC.String()
	if calling == "" {
		calling = string(q.CallingStation)
	}
	return telemetry.Try{
		OrgID: r.OrgID, DeviceID: r.DeviceID, Code: r.Code, SubscriberID: r.SubscriberID,
		SubscriptionID: r.SubscriptionID, Username: string(q.UserName), Calling: calling, Port: string(q.NASPortID),
		FirstAt: r.FirstAt, At: r.At, Count: r.Count,
	}
}

// add adds up. The caller holds the lock of the refusals.
func (t *tries) add(one telemetry.Try) {
	if t.waiting == nil {
		t.waiting, t.room = map[tryKey]telemetry.Try{}, fair.Room{Capacity: maxTries}
	}
	key := tryKey{kind{
		one.OrgID, one.SubscriberID, one.SubscriptionID, one.DeviceID, one.Code,
		one.At.Unix() / int64(24*time.Hour/time.Second),
	}, one.Username, one.Calling}
	known, has := t.waiting[key]
	switch {
	case has:
		known.Count += one.Count
		if one.At.After(known.At) {
			known.At, known.Port = one.At, one.Port
		}
		if one.FirstAt.Before(known.FirstAt) {
			known.FirstAt = one.FirstAt
		}
		t.waiting[key] = known
	case t.room.Take(one.OrgID, 1):
		t.waiting[key] = one
	}
}

// tried counts a refused sign-in with what its router sent.
func (r *Refusals) tried(one telemetry.Refusal, q *radius.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(one)
	r.tries.add(tryOf(one, q))
}

// DrainTries implements telemetry.RefusalSource.
func (r *Refusals) DrainTries() []telemetry.Try {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]telemetry.Try, 0, len(r.tries.waiting))
	for _, one := range r.tries.waiting {
		all = append(all, one)
	}
	r.tries = tries{}
	return all
}

// ReturnTries implements telemetry.RefusalSource.
func (r *Refusals) ReturnTries(list []telemetry.Try) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range list {
		r.tries.add(one)
	}
}

package telemetry

import (
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// progress are the fields of a session that every new report changes.
type progress struct {
	updated, ended           time.Time // ended is zero while the session is open
	endedBy                  int16
	endReason, samples       string
	bytesDown, bytesUp, time int64
}

// progress gives them as they are now.
func (s *Session) progress() progress {
	p := progress{
		updated: s.UpdatedAt.UTC(), endedBy: s.EndedBy, endReason: s.EndReason, samples: string(s.Samples),
		bytesDown: s.BytesDown, bytesUp: s.BytesUp, time: s.Seconds,
	}
	if s.EndedAt != nil {
		p.ended = s.EndedAt.UTC()
	}
	return p
}

// facts are the fields of a session that most reports leave as they are.
type facts struct {
	called, port, service, access, stamp string
	held                                 string
	source, ip, ipv6                     netip.Addr
	framed, delegated                    netip.Prefix
	nasPort, rateDown, rateUp            int64
	subscriber                           id.Subscriber
	subscription                         id.Subscription
	startedAt                            time.Time
}

// facts gives them as they are now.
func (s *Session) facts() facts {
	f := facts{
		called: s.Called, port: s.Port, service: s.Service, access: s.Access, stamp: s.Stamp, nasPort: s.NASPort,
		rateDown: s.RateDown, rateUp: s.RateUp, subscriber: s.SubscriberID, subscription: s.SubscriptionID,
		startedAt: s.StartedAt.UTC(), held: s.Held,
	}
	if s.Source != nil {
		f.source = *s.Source
	}
	if s.IP != nil {
		f.ip = *s.IP
	}
	if s.IPv6 != nil {
		f.ipv6 = *s.IPv6
	}
	if s.FramedPrefix != nil {
		f.framed = *s.FramedPrefix
	}
	if s.DelegatedPrefix != nil {
		f.delegated = *s.DelegatedPrefix
	}
	return f
}

// changes are the sessions that have to be written.
type changes struct {
	begun   []*Session // not in the tables yet
	whole   []*Session // all of their fields
	counted []*Session // progress alone
}

// changed parts the touched sessions by what of them has to be written, which of a repeated report is nothing.
func (b *book) changed() (c changes) {
	for _, s := range b.touched {
		switch {
		case s.stored == nil:
			c.begun = append(c.begun, s)
		case *s.stored != s.facts():
			c.whole = append(c.whole, s)
		case s.kept != s.progress():
			c.counted = append(c.counted, s)
		}
	}
	return c
}

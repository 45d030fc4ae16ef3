package telemetry

import (
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// facts are the fields of a session that most reports leave as they are.
type facts struct {
	called, port, service, access, stamp string
	ip                                   netip.Addr
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
		startedAt: s.StartedAt,
	}
	if s.IP != nil {
		f.ip = *s.IP
	}
	if s.FramedPrefix != nil {
		f.framed = *s.FramedPrefix
	}
	if s.DelegatedPrefix != nil {
		f.delegated = *s.DelegatedPrefix
	}
	return f
}

// changed parts the sessions that have to be written into those of which all fields are, and those of which only the
// fields are that every report changes.
func (b *book) changed() (whole, counted []*Session) {
	for _, s := range b.touched {
		if s.stored != nil && *s.stored == s.facts() {
			counted = append(counted, s)
		} else {
			whole = append(whole, s)
		}
	}
	return whole, counted
}

// Package accounting hands what the RADIUS server reads about sessions over to package telemetry, which knows no
// protocol.
package accounting

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
)

// mostDelay is the longest Acct-Delay-Time that is believed by itself. A longer one can come of a router's clock that
// was set meanwhile, so a session has to prove it.
const mostDelay = 24 * time.Hour

// Sink implements radius.Accounting.
type Sink struct {
	Recorder *telemetry.Recorder
}

// Take implements radius.Accounting.
func (s Sink) Take(r *radius.Record) {
	s.Recorder.Record(report(r), func(durable bool) {
		if !durable {
			r.Refuse()
			return
		}
		r.Acknowledge()
	})
}

// report translates a record. What the router received from the customer is the customer's upload. Instants are ours,
// because routers without a battery begin in 1970.
func report(r *radius.Record) telemetry.Report {
	at, late := r.At.Add(-r.Delay), time.Duration(0)
	if r.Delay > mostDelay {
		at, late = r.At, r.Delay
	}
	out := telemetry.Report{
		Kind: telemetry.Kind(r.Status.String()), Org: r.NAS.Org, Device: r.NAS.ID, Source: r.Source,
		Session: r.SessionID, User: r.UserName, Calling: r.CallingStation, MAC: r.MAC.String(),
		Called: r.CalledStation, Port: r.NASPortID, Service: r.Service.String(), IP: r.FramedIP, Class: r.Class,
		Down: r.BytesOut, Up: r.BytesIn, Gigawords: r.Gigawords, IPv6: r.FramedIPv6,
		NASPort: r.NASPort, Link: r.FramedPrefix, Network: r.DelegatedPrefix, Online: r.SessionTime, At: at,
		Cause: r.TerminateCause, Late: late,
	}
	if !out.IP.IsValid() {
		out.IP = r.HostIP
	}
	return out
}

package networkjobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// pingPause is the time in which a router gets one ping: who pings it again within that time is given the same answer.
// Source: docs/rules/network.md#ping.
const pingPause = 3 * time.Second

// pings holds the newest ping of each router. Safe for concurrent use; the zero value has none.
type pings struct {
	mu  sync.Mutex
	all map[id.Device]*ping
}

// ping is one question to a router, with the answer for everybody who asked meanwhile.
type ping struct {
	began time.Time // by pace
	place pingPlace
	done  chan struct{} // closed when out and err are there
	out   networkviews.LivePing
	err   error
}

// pingPlace is where and as whom a router is asked: another place is another question.
type pingPlace struct {
	details events.DeviceDetails
	login   id.Secret
}

// over reports whether the answer is there.
func (p *ping) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// errPingLost answers a ping that ended by a panic.
var errPingLost = errors.New("the ping ended without an answer")

// join gives the ping that runs or has just begun, or a new one, which the caller has to make.
func (p *pings) join(row networkviews.DeviceRow, now time.Time) (_ *ping, mine bool) {
	place := pingPlace{details: row.Details, login: row.APIRef}
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.all[row.ID]
	if last != nil && last.place == place && (!last.over() || now.Sub(last.began) < pingPause) {
		return last, false
	}
	if p.all == nil {
		p.all = map[id.Device]*ping{}
	}
	next := &ping{began: now, place: place, done: make(chan struct{}), err: errPingLost}
	p.all[row.ID] = next
	return next, true
}

// forget drops what is known of a router.
func (p *pings) forget(device id.Device) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, device)
}

// Ping polls a router at once, also while its breaker is open, and stores the poll. A router that does not answer is a
// result, not an error. Fails: device_not_found.
func (w *Workers) Ping(ctx context.Context, device id.Device) (networkviews.LivePing, error) {
	row, err := w.devices.Any(ctx, device)
	if err != nil {
		return networkviews.LivePing{}, err
	}
	if row == nil {
		return networkviews.LivePing{}, commands.ErrNoDevice()
	}
	p, mine := w.pings.join(*row, w.paced())
	if mine {
		w.ping(ctx, *row, p)
	}
	select {
	case <-p.done:
		return p.out, p.err
	case <-ctx.Done():
		return networkviews.LivePing{}, ctx.Err()
	}
}

// ping asks the router. It goes on when the one who asked has gone: others may wait for the same answer.
func (w *Workers) ping(ctx context.Context, row networkviews.DeviceRow, p *ping) {
	defer close(p.done)
	ctx, cancel := context.WithTimeout(breaker.Insist(context.WithoutCancel(ctx)), reportPatience)
	defer cancel()
	w.looked.Delete(row.ID)
	polled := w.poll(ctx, row)
	p.out = networkviews.LivePing{
		Reachable: polled.Reachable, ResponseMs: polled.ResponseMs, BoardName: polled.BoardName,
		Version: polled.Version, Error: polled.Error,
	}
	p.err = w.cfg.Polls.Keep(ctx, []Polled{polled})
}

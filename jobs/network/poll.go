package networkjobs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// Fleet polls. Source: docs/rules/network.md#fleet-polls.
const (
	pollBatch     = 10
	batchesAtOnce = 10
	pollPatience  = 5 * time.Second // a router that takes longer counts as unreachable
	scriptEvery   = 5 * time.Minute // how often a router with an old script is asked for its version
)

// resource reads the one row of system/resource. An empty answer fails with router_refused.
func (r router) resource(ctx context.Context) (routeros.Item, error) {
	items, err := r.Print(ctx, "system/resource", routeros.Query{})
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, failure.New(failure.Refused, "router_refused", "The router returned no system resource.")
	}
	return items[0], nil
}

// PollFleet polls all routers of all organizations in batches, and stores the answers. Routers of a batch are polled at
// the same time, and up to batchesAtOnce batches are under way, so that silent routers delay the others little. A
// router whose breaker is open is not dialled.
func (w *Workers) PollFleet(ctx context.Context) error {
	rows, err := w.devices.Every(ctx)
	if err != nil {
		return err
	}
	return inBatches(ctx, rows, func(ctx context.Context, batch []networkviews.DeviceRow) error {
		return w.pollAll(ctx, w.cfg.Gate, batch)
	})
}

// inBatches calls do for each batch of a list, batchesAtOnce at a time, and waits for the last one. A failed batch does
// not stop the others; after the end of ctx no further batch begins.
func inBatches[T any](ctx context.Context, list []T, do func(context.Context, []T) error) error {
	var (
		wait   sync.WaitGroup
		mu     sync.Mutex
		failed error
	)
	slots := make(chan struct{}, batchesAtOnce)
	for batch := range slices.Chunk(list, pollBatch) {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			defer func() { <-slots }()
			err := loop.Try(func() error { return do(ctx, batch) })
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
		})
	}
	wait.Wait()
	return cmp.Or(ctx.Err(), failed)
}

// pollAll polls the routers of one batch at the same time and stores their answers. Each enters the gate by itself, so
// that a move of the clock waits for one router and not for a whole round.
func (w *Workers) pollAll(ctx context.Context, gate *clock.Gate, rows []networkviews.DeviceRow) error {
	polled := make([]Polled, len(rows))
	err := loop.Each(ctx, len(rows), len(rows), func(i int) error {
		polled[i] = w.pollSafely(ctx, gate, rows[i])
		return nil
	})
	if err != nil {
		return err
	}
	return w.cfg.Polls.Keep(ctx, polled)
}

// pollSafely is poll for an answer that the program may not be ready for: a panic makes this router unreachable, with a
// line in the log, and costs the others of its batch nothing. The answer is empty when ctx ends before the gate opens.
func (w *Workers) pollSafely(ctx context.Context, gate *clock.Gate, row networkviews.DeviceRow) (out Polled) {
	leave, err := gate.Enter(ctx)
	if err != nil {
		return out
	}
	defer leave()
	at := w.cfg.Clock.Now().Truncate(time.Microsecond)
	err = loop.Try(func() error {
		out = w.poll(ctx, row)
		return nil
	})
	if err != nil {
		w.cfg.Logger.ErrorContext(ctx, "router poll panicked", "device_id", row.ID.String(), "error", err,
			"stack", loop.StackOf(err))
		out = Polled{OrgID: row.OrgID, Poll: networkviews.Poll{
			DeviceID: row.ID, At: at, Error: "The router's answer could not be read. The log says why.",
		}}
	}
	return out
}

// poll asks one router, for at most pollPatience, and records what changed: transport, reboot, bootstrap version.
func (w *Workers) poll(ctx context.Context, row networkviews.DeviceRow) Polled {
	ctx, cancel := context.WithTimeout(ctx, pollPatience)
	defer cancel()
	began := w.cfg.Clock.Now()
	out := Polled{OrgID: row.OrgID, Poll: networkviews.Poll{DeviceID: row.ID, At: began.Truncate(time.Microsecond)}}
	r, err := w.openRow(ctx, row)
	if err == nil {
		err = r.ask(ctx, clock.Pace(w.cfg.Clock), &out.Poll)
	}
	if err != nil {
		out.Reachable, out.Error = false, messageOf(err)
		return out
	}
	out.Reachable = true
	w.learn(ctx, r, out.Version, out.BoardName)
	w.learnReboot(ctx, r, time.Duration(out.UptimeSeconds)*time.Second)
	if w.looksForScript(row.ID, w.paced()) {
		w.learnBootstrap(ctx, r)
	}
	return out
}

// ask fills a poll: load, the time of the router's answer, and the number of PPP sessions. A router that answers but
// refuses its sessions is reachable all the same: the poll's error then has its words. Source:
// docs/rules/network.md#fleet-polls.
func (r router) ask(ctx context.Context, pace clock.Clock, p *networkviews.Poll) error {
	began := pace.Now()
	resource, err := r.resource(ctx)
	if err != nil {
		return err
	}
	p.ResponseMs = pace.Now().Sub(began).Milliseconds()
	load := loadOf(resource)
	p.BoardName, p.Version, p.CPUPercent, p.MemoryPercent, p.UptimeSeconds = load.BoardName, load.Version,
		load.CPUPercent, load.MemoryPercent, load.UptimeSeconds
	sessions, err := r.Print(ctx, routerplan.MenuPPPActive, routeros.Query{Props: []string{".id"}})
	switch {
	case routeros.RefusalOf(err) != nil:
		p.Error = "The sessions cannot be counted: " + messageOf(err)
		return nil
	case err != nil:
		return err
	}
	p.ActiveSessions = len(sessions)
	return nil
}

// maxAbout bounds version, board name and architecture, in characters.
const maxAbout = 64

// loadOf reads system/resource. Values out of range become zero or the nearest bound.
func loadOf(r routeros.Item) networkviews.LiveResource {
	uptime, _ := routerplan.ParseDuration(r["uptime"])
	out := networkviews.LiveResource{
		BoardName: about(r["board-name"]), Version: about(r["version"]), Architecture: about(r["architecture-name"]),
		CPUPercent: int(min(max(number(r["cpu-load"]), 0), 100)), UptimeSeconds: int64(uptime.Seconds()),
	}
	if total, free := number(r["total-memory"]),
		number(r["free-memory"]); total > 0 && total < 1<<56 && free >= 0 && free <= total {
		out.TotalMemory, out.FreeMemory = total, free
		out.MemoryPercent = int((total - free) * 100 / total)
	}
	return out
}

// about makes one line of at most maxAbout characters.
func about(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	return string(line[:min(len(line), maxAbout)])
}

// number reads a whole number; 0 when the text is not one.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// learn records a changed transport, and the recovery of a router that was unreachable.
func (w *Workers) learn(ctx context.Context, r router, version, board string) {
	_, port, err := w.address(r.row)
	if err != nil {
		return
	}
	now := transportOf(r, port, version, board)
	if known := r.row.Transport; known == nil || *known != now {
		w.note(ctx, r.row.OrgID, commands.LearnDeviceTransport{DeviceID: r.row.ID, Transport: now})
	}
	if r.row.UnreachableSince != nil {
		w.note(ctx, r.row.OrgID, commands.MarkDeviceRecovered{DeviceID: r.row.ID})
	}
}

// paced is the present time of lengths: somebody who sets the machine's clock makes none of them longer.
func (w *Workers) paced() time.Time { return clock.Pace(w.cfg.Clock).Now() }

// looksForScript reports whether to ask a router for its bootstrap version: every scriptEvery, and at a poll that was
// requested. It remembers the time.
func (w *Workers) looksForScript(device id.Device, now time.Time) bool {
	last, known := w.looked.Load(device)
	if known && now.Sub(last.(time.Time)) < scriptEvery { //nolint:forcetypeassert // nothing else is stored
		return false
	}
	w.looked.Store(device, now)
	return true
}

// learnReboot confirms an accepted reboot when the uptime is shorter than the time since, without waiting for
// VerifyReboot.
func (w *Workers) learnReboot(ctx context.Context, r router, uptime time.Duration) {
	b := r.row.Reboot
	if b == nil || b.Stage != networkviews.RebootAccepted || uptime > w.cfg.Clock.Now().Sub(b.At)+rebootSlack {
		return
	}
	w.note(ctx, r.row.OrgID, commands.ConfirmReboot{
		DeviceID: r.row.ID, RunID: b.RunID, UptimeSeconds: int64(uptime.Seconds()),
	})
}

// ProbeDevice polls one router at once. A router that does not answer is stored as unreachable and fails no job. The
// job is inside the gate already.
func (w *Workers) ProbeDevice(ctx context.Context, args commands.ProbeDevice, _ jobs.Cause) error {
	return w.pollOne(ctx, nil, args.DeviceID, args.Position)
}

// pollOne polls one router when the read model has reached a position, and asks for its bootstrap version, too.
func (w *Workers) pollOne(ctx context.Context, gate *clock.Gate, device id.Device, position uint64) error {
	if err := w.cfg.Views.WaitFor(ctx, networkviews.DevicesName, position); err != nil {
		return err
	}
	row, err := w.devices.Any(ctx, device)
	if err != nil || row == nil {
		return err
	}
	w.looked.Delete(device)
	return w.pollAll(ctx, gate, []networkviews.DeviceRow{*row})
}

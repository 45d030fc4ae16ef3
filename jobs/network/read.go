package networkjobs

import (
	"context"
	"slices"
	"sync"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// readers is how many menus of one router are read at the same time; the gateway allows no more connections.
const readers = 2

// read fills a snapshot with menus: each is one round trip.
func (r router) read(ctx context.Context, menus []string) (routerplan.Snapshot, error) {
	snapshot := routerplan.Snapshot{}
	return snapshot, r.refresh(ctx, snapshot, menus)
}

// refresh reads menus of a snapshot again.
func (r router) refresh(ctx context.Context, into routerplan.Snapshot, menus []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	next := make(chan string)
	for range min(readers, len(menus)) {
		wait.Go(func() {
			for menu := range next {
				items, err := r.Print(ctx, menu, routeros.Query{})
				mu.Lock()
				if err == nil {
					into[menu] = rowsOf(items)
				} else if first == nil {
					first = &at{path: menu, err: err}
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	for _, menu := range menus {
		next <- menu
	}
	close(next)
	wait.Wait()
	return first
}

// rowsOf are items as the plan reads them.
func rowsOf(items []routeros.Item) []routerplan.Row {
	rows := make([]routerplan.Row, len(items))
	for i, item := range items {
		rows[i] = routerplan.Row(item)
	}
	return rows
}

// at says which menu an error is about.
type at struct {
	path string
	err  error
}

// Error is the router's.
func (a *at) Error() string { return a.path + ": " + a.err.Error() }

// Unwrap is the router's error.
func (a *at) Unwrap() error { return a.err }

// union is lists without repetition, in their order.
func union(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, name := range list {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// version is the router's, asked for when it is not known yet.
func (r router) version(ctx context.Context) (routerplan.Version, error) {
	if t := r.row.Transport; t != nil && t.Version != "" {
		return routerplan.ParseVersion(t.Version), nil
	}
	resource, err := r.Print(ctx, "system/resource", routeros.Query{})
	if err != nil || len(resource) == 0 {
		return routerplan.Version{}, err
	}
	return routerplan.ParseVersion(resource[0]["version"]), nil
}

// wanted is what a service should be; one on its way out should be nothing.
func wanted(r networkviews.ServiceRow) routerplan.Service {
	if leaving(r) {
		return routerplan.Service{ID: r.ID}
	}
	return routerplan.Service{ID: r.ID, Binding: r.Binding, Addressing: r.Addressing, WalledGarden: r.WalledGarden}
}

// leaving tells that the resources of a service are to go before anything else.
func leaving(r networkviews.ServiceRow) bool {
	return r.Open == events.PhaseRemoval || r.Open == events.PhaseTeardown
}

package directory

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius"
)

// Bounds of wrong codes (docs/rules/access-vouchers.md#guessing). A device may try some, of which one is forgiven each
// minute. When a router has seen many, every device there has one try only.
const (
	deviceTries   = 10
	deviceForgive = time.Minute
	routerTries   = 100
	routerForgive = 3 * time.Second
	maxGuessers   = 1_000 // devices that are remembered at a router
	tellEvery     = 10 * time.Minute
)

// tally is a number of wrong codes, less those forgiven by time.
type tally struct {
	count float64
	at    time.Time
}

// now is the number at an instant. A clock that went back forgives nothing.
func (t tally) now(at time.Time, forgive time.Duration) float64 {
	return max(0, t.count-max(0, float64(at.Sub(t.at))/float64(forgive)))
}

// guessing counts the wrong codes at one router, all together and by device.
type guessing struct {
	all     tally
	devices map[radius.MAC]tally
	told    time.Time // when the log was told last
}

// guesses counts wrong codes at routers. The lock of the book guards it.
type guesses map[id.Device]*guessing

// slowed reports whether a device has to wait before another code of it is looked at.
func (g guesses) slowed(nas id.Device, mac radius.MAC, at time.Time) bool {
	router := g[nas]
	if router == nil {
		return false
	}
	tries := float64(deviceTries)
	if router.attacked(at) {
		tries = 1
	}
	return router.devices[mac].now(at, deviceForgive) > tries-1
}

// attacked reports whether so many wrong codes came that somebody may be guessing with many devices.
func (g *guessing) attacked(at time.Time) bool { return g.all.now(at, routerForgive) >= routerTries }

// add counts a wrong code. When there is no room for another device, one of the others is forgotten.
func (g guesses) add(nas id.Device, mac radius.MAC, at time.Time) *guessing {
	router := g[nas]
	if router == nil {
		router = &guessing{devices: map[radius.MAC]tally{}}
		g[nas] = router
	}
	router.all = tally{min(router.all.now(at, routerForgive)+1, 2*routerTries), at}
	if _, known := router.devices[mac]; !known && len(router.devices) >= maxGuessers {
		for other := range router.devices {
			delete(router.devices, other)
			break
		}
	}
	router.devices[mac] = tally{router.devices[mac].now(at, deviceForgive) + 1, at}
	return router
}

// guessed counts a wrong code, and reports whether the device was slowed down already: then nothing is counted, so that
// waiting always helps.
func (d *Directory) guessed(nas *radius.NAS, mac radius.MAC, at time.Time) bool {
	b := d.vouchers
	b.mu.Lock()
	slowed, tell := b.guesses.slowed(nas.ID, mac, at), false
	if !slowed {
		router := b.guesses.add(nas.ID, mac, at)
		tell = router.attacked(at) && (router.told.IsZero() || at.Sub(router.told) >= tellEvery)
		if tell {
			router.told = at
		}
	}
	b.mu.Unlock()
	if tell && d.cfg.Guessing != nil {
		d.cfg.Guessing(nas)
	}
	return slowed
}

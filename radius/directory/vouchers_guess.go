package directory

import (
	"time"

	"github.com/lastmile-isp/lastmile/radius"
)

// Bounds of wrong codes at a router (docs/rules/access-vouchers.md#guessing), and of wrong passwords of an account
// (docs/rules/access-radius.md#tried-passwords). A device may try some, of which one is forgiven each minute. When many
// were tried at a router, or for an account, every device has one try only.
const (
	deviceTries   = 10
	deviceForgive = time.Minute
	allTries      = 100
	allForgive    = 3 * time.Second
	maxGuessers   = 1_000 // devices that are remembered of a router
	tellEvery     = 10 * time.Minute
)

// tally is a number of wrong codes, less those forgiven by time.
type tally struct {
	count float64
	at    time.Time
}

// now is the number at an instant of the pace, which nobody sets: a clock that was ahead would make all wait until its
// time has come.
func (t tally) now(at time.Time, forgive time.Duration) float64 {
	return max(0, t.count-max(0, float64(at.Sub(t.at))/float64(forgive)))
}

// guessing counts what was guessed wrong at one router, or for one account, all together and by device. A device is
// named by its MAC, or by its calling station where that is none.
type guessing struct {
	all     tally
	devices map[string]tally
	told    time.Time // when the log was told last
}

// guesses counts by what is guessed at. It is not safe for concurrent use.
type guesses[K comparable] map[K]*guessing

// slowed reports whether a device has to wait before another guess of it is looked at.
func (g guesses[K]) slowed(key K, device string, at time.Time) bool {
	target := g[key]
	if target == nil {
		return false
	}
	tries := float64(deviceTries)
	if target.attacked(at) {
		tries = 1
	}
	return target.devices[device].now(at, deviceForgive) > tries-1
}

// attacked reports whether so many wrong guesses came that somebody may be guessing with many devices.
func (g *guessing) attacked(at time.Time) bool { return g.all.now(at, allForgive) >= allTries }

// add counts a wrong guess; one of a device is forgiven after each pause of forgive. room is how many devices are
// remembered; one of the others is forgotten for one more.
func (g guesses[K]) add(key K, device string, at time.Time, forgive time.Duration, room int) *guessing {
	target := g[key]
	if target == nil {
		target = &guessing{devices: map[string]tally{}}
		g[key] = target
	}
	target.all = tally{min(target.all.now(at, allForgive)+1, 2*allTries), at}
	if _, known := target.devices[device]; !known && len(target.devices) >= room {
		for other := range target.devices {
			delete(target.devices, other)
			break
		}
	}
	target.devices[device] = tally{target.devices[device].now(at, forgive) + 1, at}
	return target
}

// guessed counts a wrong code, and reports whether the device was slowed down already: then nothing is counted, so that
// waiting always helps.
func (d *Directory) guessed(nas *radius.NAS, mac radius.MAC) bool {
	slowed, tell := d.vouchers.guessed(nas, mac, d.pace.Now())
	if tell && d.cfg.Guessing != nil {
		d.cfg.Guessing(nas)
	}
	return slowed
}

// guessed counts a wrong code. It also reports whether somebody has to be told that vouchers are guessed at a router.
func (b *voucherBook) guessed(nas *radius.NAS, mac radius.MAC, at time.Time) (slowed, tell bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.guesses.slowed(nas.ID, mac.String(), at) {
		return true, false
	}
	router := b.guesses.add(nas.ID, mac.String(), at, deviceForgive, maxGuessers)
	tell = router.attacked(at) && (router.told.IsZero() || at.Sub(router.told) >= tellEvery)
	if tell {
		router.told = at
	}
	return false, tell
}

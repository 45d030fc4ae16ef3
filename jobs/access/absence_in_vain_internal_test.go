package accessjobs

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/vault"
)

// A second program has only ever tried to start, in vain.
func TestAbsence_AProgramThatNeverServedIsNotWaitedForAtTheStart(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.signs(vault.Sign{Program: "other"})
	k.signs(vault.Sign{Program: "other", Stops: true})
	for range 9 {
		k.mayCut(true, "beside a program that never took money")
		k.passes(time.Minute)
	}
}

// A replica took money, was stopped, and its start fails since then, again and again.
func TestAbsence_AProgramWhoseStartFailsAgainAndAgainIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	k.other(0)
	k.mayCut(true, "beside a program that takes money")
	k.signs(vault.Sign{Program: "other", Stops: true})
	k.mayCut(false, "after its stop")
	for range 40 {
		k.signs(vault.Sign{Program: "other"})
		k.mayCut(true, "while it starts")
		k.passes(beatEvery)
		k.signs(vault.Sign{Program: "other", Stops: true})
		_ = k.round(k.t.Context())
		k.passes(beatEvery)
	}
	for range 10 {
		k.mayCut(true, "after patience")
		k.signs(vault.Sign{Program: "other"})
		k.mayCut(true, "at its next start")
		k.passes(beatEvery)
		k.signs(vault.Sign{Program: "other", Stops: true})
	}
}

// A replica is killed at each start, before it takes money, and is started again every five minutes, as a container is
// that crashes again and again.
func TestAbsence_AProgramThatIsKilledAtEachStartHoldsNobody(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	for range 60 {
		k.signs(vault.Sign{Program: "other"})
		for range 5 {
			k.mayCut(true, "after one more start in vain")
			k.passes(time.Minute)
		}
	}
}

// Another program lives, and cannot store the callbacks on its disk. Ten minutes later cuts go on, and the
// log says it.
func TestAbsence_CutsThatGoOnWithoutALivingProgramAreTold(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	var log bytes.Buffer
	k.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	k.other(0)
	k.mayCut(false, "at the start")
	k.other(3)
	k.mayCut(false, "with callbacks on the disk of the other program")
	for range 11 {
		k.passes(time.Minute)
		k.other(3)
		k.round(k.t.Context())
	}
	k.mayCut(true, "after patience")
	if !strings.Contains(log.String(), "cuts go on") {
		t.Errorf("%d programs are known, and the log says: %q", k.programs(), log.String())
	}
}

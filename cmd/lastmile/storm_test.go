package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// Size of a storm. It takes 20 to 30 seconds on a machine with nothing else to do.
const (
	stormRounds  = 6  // each ends with a kill
	stormTurns   = 80 // things that people do in a round
	stormBetween = 25 // payments that must have moved between two kills
	stormHands   = 12 // people who act at the same time
)

// Variables of `make soak-books`. stormMinutes repeats the storm for so long, each time with the next seed.
const (
	stormSeed    = "STORM_SEED"
	stormMinutes = "STORM_MINUTES"
)

// TestStorm_BooksEqualTheProvidersLedger lets customers of three organizations pay while the provider repeats,
// reorders, loses, delays and refuses, clerks move money and give invoices back, and the program and its database are
// killed again and again. In the end the books are compared with what the provider says has happened to the money.
func TestStorm_BooksEqualTheProvidersLedger(t *testing.T) {
	t.Parallel()
	seed, minutes := environNumber(t, stormSeed, 1), environNumber(t, stormMinutes, 0)
	for begun := time.Now(); ; seed++ {
		if !t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { newStorm(t, seed).run() }) {
			return
		}
		if time.Since(begun) >= time.Duration(minutes)*time.Minute { //nolint:gosec // minutes of one person's patience
			return
		}
	}
}

// environNumber reads a number from the environment; otherwise it is the usual one.
func environNumber(t *testing.T, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// storm is one run: the installation, the people in it, and what the people meant by what they paid.
type storm struct {
	*kit
	seed  uint64
	dice  *rand.Rand // of the weather and the kills; each turn has dice of its own
	child *child
	crowd crowd

	mu     sync.Mutex
	meant  map[string]meaning // by receipt number
	cash   map[string]cashPaid
	counts map[string]int // what was done, and how it was answered
	back   chan struct{}  // closed when the program serves again; a new one at each kill
	begun  time.Time
}

// newStorm starts the program in a process of its own on a private database, with three organizations: acme and beta
// share the platform's paybill, and gamma has its own.
func newStorm(t *testing.T, seed uint64) *storm {
	t.Helper()
	t.Logf("storm with seed %d; again: make soak-books SEED=%d MINUTES=0", seed, seed)
	s := &storm{
		kit: newPrivateKit(t, "RATE_LIMIT_PROMPT=100000", "DEV_CLOCK=true"), seed: seed,
		dice:  rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // a repeatable test
		meant: map[string]meaning{}, cash: map[string]cashPaid{}, counts: map[string]int{},
		back: make(chan struct{}), begun: time.Now(),
	}
	s.child = s.spawn(freePort(t))
	s.signIn()
	s.populate()
	close(s.back)
	return s
}

// run makes the storm, calms it, and compares the books.
func (s *storm) run() {
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	turns := make(chan uint64, stormRounds*stormTurns)
	var hands sync.WaitGroup
	for range stormHands {
		hands.Go(func() {
			for n := range turns {
				d := rand.New(rand.NewPCG(s.seed, n)) //nolint:gosec // a repeatable test
				if d.IntN(4) > 0 {
					s.awaitService(ctx) // most people try again; some payments are made while the program is away
				}
				s.turn(ctx, d)
			}
		})
	}
	for round := range uint64(stormRounds) {
		s.tell("round")
		before := len(s.sim.Transactions())
		s.weather()
		steps := []time.Duration{0, 0, time.Minute, 10 * time.Minute, 3 * time.Hour, 26 * time.Hour}
		s.pass(steps[s.dice.IntN(len(steps))])
		for n := range uint64(stormTurns) {
			turns <- 1 + round*stormTurns + n
		}
		s.eventually("payments between two kills", func(context.Context) (bool, error) {
			return len(s.sim.Transactions()) >= before+stormBetween || len(turns) == 0, nil
		})
		s.kill()
	}
	close(turns)
	hands.Wait()
	s.calm()
	s.t.Logf("%d payments: %v", len(s.sim.Transactions()), s.counts)
	s.tell("calm")
	newComparison(s).check()
}

// tell logs how long the storm has run.
func (s *storm) tell(what string) {
	s.t.Logf("after %s: %s", time.Since(s.begun).Round(time.Second), what)
}

// weather lets the provider misbehave in another way, and some customers answer their phones in another way.
func (s *storm) weather() {
	d := s.dice
	rarely := func(f float64) float64 { return f * float64(d.IntN(2)) }
	f := provider.Faults{
		DuplicateCallbacks: d.IntN(3), DropCallbacks: rarely(0.3), CallbackBeforeResponse: d.IntN(3) == 0,
		ReorderCallbacks: d.IntN(2) == 0, ErrorRate: rarely(0.15), InvalidateTokens: d.IntN(2) == 0,
		LateResponseMs: d.IntN(2) * d.IntN(1500), LateCallbacksMs: d.IntN(2) * d.IntN(1500),
		LoseResponse: rarely(0.25), C2BAlso: d.IntN(4) > 0, MaskMSISDN: d.IntN(4) == 0, Down: d.IntN(10) == 0,
	}
	s.faults(f)
	habits := []string{"pay", "pay", "pay", "late_success", "cancel", "no_answer", "silent", "insufficient"}
	for _, p := range s.crowd.people {
		if d.IntN(2) == 0 {
			continue
		}
		phone := provider.Phone{Behaviour: habits[d.IntN(len(habits))], DelayMs: d.IntN(700), LateMs: d.IntN(700)}
		if err := s.sim.SetPhone(p.phone, phone); err != nil {
			s.t.Fatal(err)
		}
	}
}

// pass lets time go by for the program and for the provider.
func (s *storm) pass(d time.Duration) {
	s.t.Helper()
	if d == 0 {
		return
	}
	s.eventually("clock to be moved", func(ctx context.Context) (bool, error) {
		_, err := s.crowd.root.Load().call(ctx, "POST", "/dev/clock", "", map[string]any{"advance": d.String()})
		if no := asAPIError(err); no != nil && no.Status == 401 {
			s.crowd.signInAgain(s.kit)
		}
		return err == nil, err
	})
	s.bank.Advance(d)
	s.crowd.signInAgain(s.kit)
}

// kill ends the program, or the database under it, and waits until both serve again.
func (s *storm) kill() {
	s.t.Helper()
	back := make(chan struct{})
	defer close(back)
	s.mu.Lock()
	s.back = back
	s.mu.Unlock()
	if s.dice.IntN(3) == 0 {
		s.killDatabase()
	} else {
		s.child.kill9()
		s.child = s.spawn(s.child.addr)
	}
	s.crowd.signInAgain(s.kit)
}

// awaitService waits until the program serves again.
func (s *storm) awaitService(ctx context.Context) {
	s.mu.Lock()
	back := s.back
	s.mu.Unlock()
	select {
	case <-back:
	case <-ctx.Done():
	}
}

// killDatabase ends the private PostgreSQL server and waits until the program has started it again.
func (s *storm) killDatabase() {
	s.t.Helper()
	how := []syscall.Signal{syscall.SIGKILL, syscall.SIGINT}[s.dice.IntN(2)] // a crash, or a quick end in good order
	was := s.databaseProcess()
	if err := syscall.Kill(was, how); err != nil {
		s.t.Fatalf("kill PostgreSQL: %v", err)
	}
	s.eventually("database to be back", func(context.Context) (bool, error) {
		return s.databaseProcess() != was && s.statusOf(s.client(""), "/readyz") == 200, nil
	})
}

// databaseProcess gives the process of the private server; 0 while none runs.
func (s *storm) databaseProcess() int {
	dir := s.config().DataDir
	found, _ := filepath.Glob(filepath.Join(dir, "*", "postmaster.pid"))
	deeper, _ := filepath.Glob(filepath.Join(dir, "*", "*", "postmaster.pid"))
	for _, path := range append(found, deeper...) {
		text, err := os.ReadFile(path)
		first, _, _ := strings.Cut(string(text), "\n")
		if pid, wrong := strconv.Atoi(first); err == nil && wrong == nil {
			return pid
		}
	}
	return 0
}

// calm ends the storm: the program starts once more, now inside the test so that the log can be read, and the provider
// sends every callback again, the lost ones as well.
func (s *storm) calm() {
	s.t.Helper()
	s.settled()
	s.child.kill9()
	s.environ = append(s.environ, "HTTP_ADDR="+s.child.addr) // the provider knows this address
	s.start()
	s.crowd.signInAgain(s.kit)
	s.faults(provider.Faults{C2BAlso: true})
	s.pass(3 * time.Minute) // work that died with the program is taken up, and the provider is asked about prompts
	s.repeatEverything()
}

// repeatEverything lets the provider send the callbacks of every payment and every verdict once more.
func (s *storm) repeatEverything() {
	s.t.Helper()
	for _, tx := range s.sim.Transactions() {
		s.sim.Resend(tx.ReceiptNumber)
	}
	for _, p := range s.sim.Prompts() {
		s.sim.Resend(p.CheckoutRequestID)
	}
	s.settled()
}

package telemetry_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// apart starts a recorder that takes all reports of a list in one group, and gives it with a channel of the routers of
// other organizations whose sessions have begun.
func (k *kit) apart(
	t *testing.T, cfg telemetry.Config, list []telemetry.Report, prepare func(*telemetry.Recorder),
) (r *telemetry.Recorder, others chan id.Device) {
	t.Helper()
	others = make(chan id.Device, len(list))
	began := cfg.Began
	cfg.Store, cfg.SpoolDir = k.Store, t.TempDir()
	cfg.Began = func(r telemetry.Report) {
		if r.Org != k.org {
			others <- r.Device
		}
		if began != nil {
			began(r)
		}
	}
	r = telemetry.NewRecorder(cfg)
	r.AlwaysSpool()
	filled := make(chan struct{})
	r.Watch(func(step string) {
		if step == "before commit" {
			<-filled
		}
	}, func(time.Duration) {})
	prepare(r)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	record(r, list...)
	close(filled)
	return r, others
}

// await waits until a session of another organization is kept.
func await(t *testing.T, others chan id.Device) {
	t.Helper()
	select {
	case <-others:
	case <-time.After(waittest.Limit):
		t.Fatal("another organization's session is not kept")
	}
}

// TestRecorder_AnOrganizationWhoseReportsCannotBeStoredInTimeHoldsNoOtherUp: somebody has locked a row of it.
func TestRecorder_AnOrganizationWhoseReportsCannotBeStoredInTimeHoldsNoOtherUp(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	lock, err := k.db.Owner.BeginTx(t.Context(), pgx.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(t.Context(), "select from "+k.schema()+".sessions for update"); err != nil {
		t.Fatal(err)
	}
	_, calm := k.neighbours(1)
	r, others := k.apart(t, telemetry.Config{Directory: k.directory()},
		[]telemetry.Report{k.at(telemetry.Interim, time.Minute, 7, 7), calm},
		func(r *telemetry.Recorder) { r.Hurry(2 * time.Second) }) // one row of another takes less on any machine
	await(t, others)
	if err := lock.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	settle(t, r)
	if got := k.only(t); got.Down != 7 || r.Status().Dropped != 0 {
		t.Errorf("%+v, %+v", got, r.Status())
	}
}

// TestRecorder_AnOrganizationWithADamagedPartOfATableHoldsNoOtherUp: its reports wait, whatever the server says of it.
func TestRecorder_AnOrganizationWithADamagedPartOfATableHoldsNoOtherUp(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"XX001", "58030", "55P03", "57014"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			damage := strings.NewReplacer("{schema}", k.schema(), "{code}", code, "{org}", k.org.String()).Replace(`
				create function {schema}.damaged() returns trigger language plpgsql as
					$$begin raise 'damaged' using errcode = '{code}'; end$$;
				create trigger damaged before insert on {schema}.sessions for each row when (new.org_id = '{org}')
					execute function {schema}.damaged()`)
			if _, err := k.db.Owner.Exec(t.Context(), damage); err != nil {
				t.Fatal(err)
			}
			_, calm := k.neighbours(1)
			r, others := k.apart(t, telemetry.Config{Directory: k.directory()},
				[]telemetry.Report{k.at(telemetry.Start, 0, 0, 0), calm}, func(*telemetry.Recorder) {})
			await(t, others)
			if got := r.Status(); got.Dropped != 0 || got.SpoolBytes == 0 {
				t.Errorf("%+v", got)
			}
			if _, err := k.db.Owner.Exec(t.Context(), "drop trigger damaged on "+k.schema()+".sessions"); err != nil {
				t.Fatal(err)
			}
			settle(t, r)
			k.only(t)
		})
	}
}

// TestRecorder_APanicWhileReportsAreFoldedHoldsNoOtherOrganizationUp: nor is a report lost, because the next version of
// the program may take it.
func TestRecorder_APanicWhileReportsAreFoldedHoldsNoOtherOrganizationUp(t *testing.T) {
	t.Parallel()
	k := open(t)
	var log bytes.Buffer
	var mended atomic.Bool
	d := k.directory()
	d.Resolve = func(r telemetry.Report) telemetry.Given {
		if r.Org == k.org && r.Session == "s3" && !mended.Load() {
			panic("a fault")
		}
		return k.resolve(r)
	}
	crowd, calm := k.neighbours(6)
	r, others := k.apart(t, telemetry.Config{
		Directory: d, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}, append(crowd, calm), func(*telemetry.Recorder) {})
	await(t, others)
	mended.Store(true)
	settle(t, r)
	r.Stop()
	if n := len(k.rows(t.Context(), t, k.device)); n != 6 || r.Status().Dropped != 0 {
		t.Errorf("%d sessions, %+v", n, r.Status())
	}
	text := log.String()
	_, line, _ := strings.Cut(text, "accounting panicked")
	line, _, _ = strings.Cut(line, "\n")
	if strings.Count(text, "accounting panicked") != 1 || !strings.Contains(line, "stack=") ||
		!strings.Contains(line, "org_id="+k.org.String()) {
		t.Errorf("%s", text)
	}
}

// seen is a log that closes a channel when a line has a text.
type seen struct {
	text string
	once sync.Once
	done chan struct{}
}

// Write implements io.Writer; slog calls it once for each line, one after the other.
func (s *seen) Write(line []byte) (int, error) {
	if strings.Contains(string(line), s.text) {
		s.once.Do(func() { close(s.done) })
	}
	return len(line), nil
}

// TestRecorder_ATableThatIsMissingForAWhileLosesNoReport as during a restore.
func TestRecorder_ATableThatIsMissingForAWhileLosesNoReport(t *testing.T) {
	t.Parallel()
	k := open(t)
	rename := func(from, to string) {
		sql := "alter table " + k.schema() + "." + from + " rename to " + to
		if _, err := k.db.Owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	rename("sessions", "sessions_away")
	log := &seen{text: "42P01", done: make(chan struct{})}
	r := telemetry.NewRecorder(telemetry.Config{
		Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir(),
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	crowd, calm := k.neighbours(6)
	record(r, append(crowd, calm)...)
	<-log.done
	rename("sessions_away", "sessions")
	settle(t, r)
	if n := len(k.rows(t.Context(), t, k.device)); n != 6 || r.Status().Dropped != 0 {
		t.Errorf("%d sessions, %+v", n, r.Status())
	}
}

// TestRecorder_APanicInWhatFollowsFromAReportLosesNone: nor is anything told less of the others.
func TestRecorder_APanicInWhatFollowsFromAReportLosesNone(t *testing.T) {
	t.Parallel()
	k := open(t)
	var heard, began, used int
	count := func(n *int, session string) {
		if *n++; session == "s0" {
			panic("a fault")
		}
	}
	crowd, calm := k.neighbours(3)
	crowd = append(crowd, k.at(telemetry.Interim, time.Minute, 7, 7))
	r, others := k.apart(t, telemetry.Config{
		Directory: k.directory(),
		Heard:     func(r telemetry.Report) { count(&heard, r.Session) },
		Began:     func(r telemetry.Report) { count(&began, r.Session) },
		Used:      func([]telemetry.Used) { count(&used, "s0") },
	}, append(crowd, calm), func(*telemetry.Recorder) {})
	await(t, others)
	settle(t, r)
	r.Stop()
	if n := len(k.rows(t.Context(), t, k.device)); n != 4 || heard != 5 || began != 4 || used != 1 {
		t.Errorf("%d sessions, %d heard, %d began, %d used: %+v", n, heard, began, used, r.Status())
	}
	if got := r.Status(); got.Dropped != 0 || got.Refused != (telemetry.Refused{}) {
		t.Errorf("%+v", got)
	}
}

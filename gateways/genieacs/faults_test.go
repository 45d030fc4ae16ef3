package genieacs_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// TestFaults_ADevicesWordsDoNotRepeatWhatWasWritten: a device may put a value that it refused into its reason, and a
// script any value into its error, of whatever form.
func TestFaults_ADevicesWordsDoNotRepeatWhatWasWritten(t *testing.T) {
	t.Parallel()
	fault := func(n int, code, message, parameters string) string {
		return fmt.Sprintf(`{"_id":"001122-BOX-S1:c%d","device":"001122-BOX-S1","channel":"c%d","code":%q,`+
			`"message":%q,"timestamp":"2026-03-01T09:00:00.000Z","retries":1,`+
			`"detail":{"setParameterValuesFault":[%s]}}`,
			n, n, code, message, parameters)
	}
	about := func(name string) string {
		return fmt.Sprintf(`{"parameterName":%q,"faultCode":"9007","faultString":"not s3cret"}`, name)
	}
	const other = `{"_id":"001122-BOX-S1:a","device":"001122-BOX-S1","channel":"a","code":%s,"message":%s,` +
		`"timestamp":5,"retries":"x","detail":{"setParameterValuesFault":[{"parameterName":1,"faultCode":"9007",` +
		`"faultString":"s3cret"}]}}`
	list := "[" + strings.Join([]string{
		fmt.Sprintf(other, `"script"`, `"s3cret"`), fmt.Sprintf(other, `"script.TypeError"`, `1`),
		fmt.Sprintf(other, `"script.s3cret"`, `["s3cret"]`), fmt.Sprintf(other, `{}`, `1`),
		fmt.Sprintf(other, `"cwmp.9003"`, `"s3cret"`), `{"_id":1,"device":"001122-BOX-S1"}`,
		`{"_id":"x:y","device":null}`,
		fault(1, "cwmp.9003", "bad s3cret", about("Device.WiFi.AccessPoint.1.Security.KeyPassphrase")),
		fault(2, "cwmp.9007", "bad s3cret", ""), fault(3, "cwmp.9002", "out of memory", ""),
		fault(4, "cwmp.9003", "bad s3cret", about("Device.PPP.Interface.1.Username")),
	}, ",") + "]"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("GenieACS-Version", "1.2.16")
		w.Header().Set("total", "4")
		_, _ = w.Write([]byte(list))
	}))
	t.Cleanup(server.Close)
	client, err := genieacs.New(genieacs.Config{
		NBI: server.URL, Guard: breaker.New(breaker.Config{Clock: clock.System()}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	var words []string
	err = client.EachFault(t.Context(), func(f genieacs.Fault) error {
		words = append(words, f.Message)
		if strings.Contains(f.Code, "s3cret") {
			t.Errorf("code %s", f.Code)
		}
		for _, p := range f.Parameters {
			words = append(words, p.Message)
		}
		return nil
	})
	want := []string{
		"The script failed", "The script failed: TypeError", "The script failed", "The device refused",
		"Invalid parameter value", "Invalid arguments", "Invalid parameter value",
		"Invalid arguments", "Invalid parameter value", "Invalid parameter value", "out of memory", "Invalid arguments",
		"Invalid parameter value",
	}
	if err != nil || !slices.Equal(words, want) {
		t.Errorf("%q (%v), want %q", words, err, want)
	}
}

// TestEachFault_NamesAScriptThatTookTooLong, and no other one: what a script throws by itself is not told.
func TestEachFault_NamesAScriptThatTookTooLong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Script execution timed out": "script.timeout", "Script execution timed out after 50ms": "script.timeout",
		"Script execution timed out after 50ms: s3cret": "script.Error", "s3cret": "script.Error",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("GenieACS-Version", "1.2.16")
			w.Header().Set("total", "1")
			_, _ = fmt.Fprintf(w, `[{"_id":"001122-BOX-S1:a","device":"001122-BOX-S1","channel":"a",`+
				`"code":"script.Error","message":%q}]`, text)
		}))
		t.Cleanup(server.Close)
		k := &kit{t: t, clock: clock.NewManual(start), log: &journal{}}
		k.connect(server.URL, waittest.Limit)
		err := k.EachFault(t.Context(), func(f genieacs.Fault) error {
			if f.Code != want || strings.Contains(f.Message, "s3cret") ||
				strings.Contains(f.Message, "took longer") != (want == "script.timeout") {
				t.Errorf("%q is %s: %s", text, f.Code, f.Message)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// seenFault has the fields of a fault that differ between two of one channel.
const seenFault = `"code":"cwmp.9002","timestamp":"2026-03-01T09:00:00.000Z","retries":1`

// TestClearSeen_LeavesAFaultOfASessionThatIsMetMeanwhile: the server waits for the end of the session, in which the
// fault becomes another one.
func TestClearSeen_LeavesAFaultOfASessionThatIsMetMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string // of the fault after the session; "" = it is gone
		in   int    // so many tries meet the session
		want error
		done bool
	}{
		"the same after it": {text: seenFault, in: 2, done: true},
		"a later one":       {text: `"code":"cwmp.9002","timestamp":"2026-03-01T09:05:00.000Z","retries":1`, in: 1},
		"another one":       {text: `"code":"cwmp.9003","timestamp":"2026-03-01T09:00:00.000Z","retries":1`, in: 1},
		"tried again":       {text: `"code":"cwmp.9002","timestamp":"2026-03-01T09:00:00.000Z","retries":2`, in: 1},
		"gone":              {in: 1},
		"in session for long": {
			text: seenFault, in: 9, want: genieacs.ErrInSession,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, tries, cleared := seenFault, 0, false
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("GenieACS-Version", "1.2.16")
				w.Header().Set("total", "1")
				switch {
				case r.Method == http.MethodDelete && tries < c.in:
					tries++
					now = c.text
					w.WriteHeader(http.StatusServiceUnavailable)
					_, _ = w.Write([]byte("Device is in session"))
				case r.Method == http.MethodDelete:
					cleared = true
				case now == "":
					_, _ = w.Write([]byte("[]"))
				default:
					_, _ = fmt.Fprintf(w, `[{"_id":"001122-BOX-S1:a","device":"001122-BOX-S1","channel":"a",%s}]`, now)
				}
			}))
			t.Cleanup(server.Close)
			client, err := genieacs.New(genieacs.Config{
				NBI: server.URL, Guard: breaker.New(breaker.Config{Clock: clock.System()}), Patience: time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			err = client.ClearSeen(t.Context(), genieacs.Fault{
				ID: "001122-BOX-S1:a", Code: "cwmp.9002", At: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Retries: 1,
			})
			if !errors.Is(err, c.want) || cleared != c.done {
				t.Errorf("cleared %t (%v)", cleared, err)
			}
		})
	}
}

// TestClearFault_WhoWasAskingAsksAgain: the server would try it again by itself only when the device boots.
func TestClearFault_WhoWasAskingAsksAgain(t *testing.T) {
	t.Parallel()
	k, _ := ready(t)
	at := wan(genieacs.TR181) + "Username"
	id := k.add(acs.DeviceConfig{Serial: "F1", Off: true})
	fails := func(rejects map[string]string) {
		if err := k.sim.SetDeviceFaults(string(id), acs.DeviceFaults{Reject: rejects}); err != nil {
			t.Fatal(err)
		}
	}
	fails(map[string]string{at: "9007"})
	if err := k.sim.SetPower(string(id), true); err != nil {
		t.Fatal(err)
	}
	k.settle()
	fails(nil)
	faults, err := k.DeviceFaults(t.Context(), id)
	if err != nil || len(faults) != 1 || !genieacs.Asks(faults[0].Channel) {
		t.Fatalf("faults %+v (%v)", faults, err)
	}
	if err := k.ClearFault(t.Context(), faults[0].ID); err != nil {
		t.Fatal(err)
	}
	k.inform(id, "2 PERIODIC")
	k.noFaults()
	if got := k.inside(id, at); got != "jane.doe" || slices.Contains(k.read(id).Tags, genieacs.Unidentified) {
		t.Errorf("it has the login of %v, and tags %v", got, k.read(id).Tags)
	}
	if err := k.DeleteDevice(t.Context(), id); err != nil { // with its faults
		t.Fatal(err)
	}
	if err := k.ClearFault(t.Context(), faults[0].ID); err != nil {
		t.Errorf("of a device that is gone: %v", err)
	}
}

// TestAhead_IsWhatIsCertain of the difference of two clocks, as the server tells the second alone.
func TestAhead_IsWhatIsCertain(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	for ours, want := range map[time.Duration]time.Duration{
		0: 0, 900 * time.Millisecond: 0, -time.Hour: time.Hour, time.Hour: time.Second - time.Hour,
		-100 * time.Millisecond: 100 * time.Millisecond,
	} {
		client, err := genieacs.New(genieacs.Config{
			NBI: k.sim.URL(), Guard: breaker.New(breaker.Config{Clock: k.clock}),
			Clock: clock.NewManual(start.Add(ours)),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		if _, err := client.DeviceFaults(t.Context(), "001122-BOX-S1"); err != nil || client.Ahead() != want {
			t.Errorf("ours is %s later: ahead %s, want %s (%v)", ours, client.Ahead(), want, err)
		}
	}
}

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// key32 is a platform key for tests.
var key32 = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{3}, 32))

// sound gives a production configuration without faults; changes come last, so they
// replace variables of the same name.
func sound(changes ...string) []string {
	return append([]string{
		"APP_ENV=production", "SERVICE_DOMAIN=isp.example", "PLATFORM_ENCRYPTION_KEY=" + key32,
		"JWT_SIGNING_KEY=" + strings.Repeat("k", 32), "DATABASE_URL=postgres://user:hunter2@db.example/lastmile",
		"EVENTSTORE_URL=esdb://admin:hunter2@es.example:2113?tls=true",
		"PAYMENT_ALLOWED_IPS=196.201.214.200, 196.201.213.0/24",
		"PAYMENT_CALLBACK_URL=https://isp.example/webhooks/mobile-money/stk",
	}, changes...)
}

// faulty lists the variables for which a configuration is refused.
func faulty(t *testing.T, environ []string) []string {
	t.Helper()
	_, err := loadConfig(environ)
	if err == nil {
		return nil
	}
	var names []string
	for line := range strings.Lines(err.Error()) {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	return names
}

func TestConfig_AllFaultsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	got := faulty(t, []string{
		"APP_ENV=staging", "HTTP_ADDR=nowhere", "GATEWAY_MODE=maybe", "PLATFORM_ENCRYPTION_KEY=short",
		"DATABASE_URL=mysql://x/y",
	})
	want := []string{"APP_ENV", "HTTP_ADDR", "DATABASE_URL", "PLATFORM_ENCRYPTION_KEY", "GATEWAY_MODE"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestConfig_AValueThatCannotBeReadIsToldOnceByItsVariable(t *testing.T) {
	t.Parallel()
	got := faulty(t, []string{"RATE_LIMIT_USER=many", "TRUSTED_PROXIES=everybody", "HTTP_ADDR=nowhere"})
	if diff := cmp.Diff([]string{"RATE_LIMIT_USER", "TRUSTED_PROXIES", "HTTP_ADDR"}, got,
		cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestConfig_ProductionRefusesWhatIsUnsafe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change []string
		want   []string
	}{
		{"sound", nil, nil},
		{
			"no keys", []string{"PLATFORM_ENCRYPTION_KEY=", "JWT_SIGNING_KEY="}, []string{
				"PLATFORM_ENCRYPTION_KEY", "JWT_SIGNING_KEY",
			},
		},
		{"short signing key", []string{"JWT_SIGNING_KEY=short"}, []string{"JWT_SIGNING_KEY"}},
		{"callbacks from everywhere", []string{"PAYMENT_ALLOWED_IPS="}, []string{"PAYMENT_ALLOWED_IPS"}},
		{"a provider in the clear", []string{"PAYMENT_BASE_URL=http://127.0.0.1:8090"}, []string{"PAYMENT_BASE_URL"}},
		{
			"callbacks in the clear", []string{"PAYMENT_CALLBACK_URL=http://isp.example/x"},
			[]string{"PAYMENT_CALLBACK_URL"},
		},
		{"simulator", []string{"GATEWAY_MODE=test"}, []string{"GATEWAY_MODE"}},
		{"node of its own on loopback", []string{"EVENTSTORE_URL="}, nil},
		{
			"node for others without TLS and password", []string{"EVENTSTORE_URL=", "EVENTSTORE_ADDR=10.0.0.5:2113"},
			[]string{"EVENTSTORE_ADDR"},
		},
		{"demo credentials", []string{
			"PAYMENT_CONSUMER_KEY=" + demoConsumerKey, "PAYMENT_CONSUMER_SECRET=" + demoConsumerSecret,
			"PAYMENT_SHORTCODE=" + demoShortcode, "PAYMENT_PASSKEY=" + demoPasskey,
		}, []string{"PAYMENT_CONSUMER_SECRET"}},
		{"default domain", []string{"SERVICE_DOMAIN=lastmile.localhost"}, []string{"SERVICE_DOMAIN"}},
	} {
		if diff := cmp.Diff(c.want, faulty(t, sound(c.change...))); diff != "" {
			t.Errorf("%s: faults (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestConfig_PrintsWithoutSecrets(t *testing.T) {
	t.Parallel()
	cfg, err := loadConfig(sound("PAYMENT_CONSUMER_KEY=ck", "PAYMENT_CONSUMER_SECRET=hunter2",
		"PAYMENT_SHORTCODE=600100", "PAYMENT_PASSKEY=hunter2",
		"SMTP_URL=smtp://user:hunter2@mail.example:587"))
	if err != nil {
		t.Fatalf("configuration: %v", err)
	}
	text := fmt.Sprint(cfg.shown()...) + fmt.Sprintf("%v %+v", cfg, cfg)
	for _, secret := range []string{"hunter2", key32, strings.Repeat("k", 32)} {
		if strings.Contains(text, secret) {
			t.Errorf("the configuration prints %q", secret)
		}
	}
	for _, shown := range []string{"isp.example", "600100", "db.example"} {
		if !strings.Contains(text, shown) {
			t.Errorf("the configuration does not show %q", shown)
		}
	}
}

func TestCommandLine_ExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		want int
	}{
		{"version", exitOK}, {"--help", exitOK}, {"fly", exitUsage}, {"admin create", exitUsage}, {"serve", exitFailed},
		{"eventstore", exitFailed}, {"demo", exitFailed}, {"simulate provider", exitFailed},
	} {
		var out, errs logBuffer
		p := program{environ: []string{"APP_ENV=production"}, out: &out, err: &errs}
		if got := p.run(t.Context(), strings.Fields(c.args)); got != c.want {
			t.Errorf("lastmile %s: exit code %d, want %d: %s", c.args, got, c.want, errs.String())
		}
	}
}

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// key32 is a platform key for tests, and signing32 a signing key. Both look as random as production wants.
var (
	key32     = base64.StdEncoding.EncodeToString(looksRandom("platform"))
	signing32 = base64.StdEncoding.EncodeToString(looksRandom("signing"))
)

// looksRandom gives 32 bytes that are always the same.
func looksRandom(word string) []byte {
	sum := sha256.Sum256([]byte(word))
	return sum[:]
}

// sound gives a production configuration without faults; changes come last, so they
// replace variables of the same name.
func sound(changes ...string) []string {
	return append([]string{
		"APP_ENV=production", "SERVICE_DOMAIN=isp.example", "PLATFORM_ENCRYPTION_KEY=" + key32,
		"JWT_SIGNING_KEY=" + signing32, "DATABASE_URL=postgres://user:hunter2@db.example/lastmile?sslmode=require",
		"EVENTSTORE_URL=esdb://admin:hunter2@es.example:2113?tls=true",
		"PAYMENT_ALLOWED_IPS=196.201.214.200, 196.201.213.0/24", "PAYMENT_ENV=production",
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

// unsafe is a change of a sound configuration, with the variables that are faulty then.
type unsafe struct {
	name   string
	change []string
	want   []string
}

// keys are some that can be guessed, and some that cannot.
func keys() []unsafe {
	return []unsafe{
		{"a word as signing key", []string{"JWT_SIGNING_KEY=" + strings.Repeat("k", 32)}, []string{"JWT_SIGNING_KEY"}},
		{
			"a word twice as signing key", []string{"JWT_SIGNING_KEY=0123456789abcdef0123456789abcdef"},
			[]string{"JWT_SIGNING_KEY"},
		},
		{"hexadecimal signing key", []string{"JWT_SIGNING_KEY=" + hex.EncodeToString(looksRandom("hex"))}, nil},
		{"signing key without padding", []string{"JWT_SIGNING_KEY=" + strings.TrimRight(signing32, "=")}, nil},
		{"half a signing key", []string{"JWT_SIGNING_KEY=8b1f3c9d02e7a645f0d1b2c39e8a7764"}, signingKeyFault},
		{"a sentence", []string{"JWT_SIGNING_KEY=correct horse battery staple, for our tokens"}, signingKeyFault},
		{"words", []string{"JWT_SIGNING_KEY=correcthorsebatterystapleforthetokensOfLast2026"}, signingKeyFault},
		{"words in base64", []string{
			"JWT_SIGNING_KEY=" + encoded([]byte("correct horse battery staple, for our tokens")),
		}, signingKeyFault},
		{"words as platform key", []string{
			"PLATFORM_ENCRYPTION_KEY=correcthorsebatterystapleforlastmilesvaulte=",
		}, platformKey},
		{"key of zeros", []string{"PLATFORM_ENCRYPTION_KEY=" + encoded(make([]byte, 32))}, platformKey},
		{"key of one byte", []string{"PLATFORM_ENCRYPTION_KEY=" + encoded(bytes.Repeat([]byte{3}, 32))}, platformKey},
		{"key that counts", []string{"PLATFORM_ENCRYPTION_KEY=" + encoded(counting())}, platformKey},
		{
			"key that was typed", []string{
				"PLATFORM_ENCRYPTION_KEY=" + encoded([]byte("correct horse battery staple 123")),
			}, platformKey,
		},
	}
}

// openDoors are too many trusted machines, and connections that others can read.
func openDoors() []unsafe {
	return []unsafe{
		{
			"trusted everybody", []string{"TRUSTED_PROXIES=0.0.0.0/0, 10.0.0.0/8, ::/0, 2001:db8::/31"},
			[]string{"TRUSTED_PROXIES", "TRUSTED_PROXIES", "TRUSTED_PROXIES", "TRUSTED_PROXIES"},
		},
		{"trusted IPv4 as IPv6", []string{"TRUSTED_PROXIES=::ffff:10.0.0.0/104"}, []string{"TRUSTED_PROXIES"}},
		{"trusted networks", []string{"TRUSTED_PROXIES=10.1.0.0/16, 2001:db8::/32, 127.0.0.1"}, nil},
		{"callbacks from half the world", []string{"PAYMENT_ALLOWED_IPS=0.0.0.0/1"}, []string{"PAYMENT_ALLOWED_IPS"}},
		{
			"tax gateways everywhere", []string{"TAX_GATEWAY_NETWORKS=0.0.0.0/0, ::/0, 10.2.0.0/16, 10.0.0.0/8"},
			[]string{"TAX_GATEWAY_NETWORKS", "TAX_GATEWAY_NETWORKS", "TAX_GATEWAY_NETWORKS"},
		},
		{
			"a walled garden without walls", []string{"WALLED_GARDEN_SITES=41.0.0.0/8, pay.example, 196.201.0.0/16"},
			[]string{"WALLED_GARDEN_SITES"},
		},
		{
			"remote database in the clear", []string{"DATABASE_URL=postgres://u:p@db.example/x?sslmode=disable"},
			[]string{"DATABASE_URL"},
		},
		{
			"remote database, perhaps in the clear", []string{"DATABASE_URL=postgres://u:p@db.example/x"},
			[]string{"DATABASE_URL"},
		},
		{
			"one of two databases in the clear",
			[]string{"DATABASE_URL=postgres://u:p@127.0.0.1:5432,db.example:5432/x?sslmode=disable"},
			[]string{"DATABASE_URL"},
		},
		{"database on this machine", []string{"DATABASE_URL=postgres://u:p@127.0.0.1/x?sslmode=disable"}, nil},
		{"database by its socket", []string{"DATABASE_URL=postgres://u:p@/x?host=/run/postgresql"}, nil},
		{
			"a socket and a database in the clear",
			[]string{"DATABASE_URL=postgres://u:p@/x?host=/run/postgresql,db.example&sslmode=disable"},
			[]string{"DATABASE_URL"},
		},
		{
			"remote event store in the clear", []string{"EVENTSTORE_URL=esdb://a:b@es.example:2113?tls=false"},
			[]string{"EVENTSTORE_URL"},
		},
		{
			"one of two event stores in the clear",
			[]string{"EVENTSTORE_URL=esdb://127.0.0.1:2113,es.example:2113?Tls=FALSE"}, []string{"EVENTSTORE_URL"},
		},
		{"an event store of any certificate", []string{
			"EVENTSTORE_URL=esdb://a:b@es.example:2113?tls=true&tlsVerifyCert=false",
		}, []string{"EVENTSTORE_URL"}},
		{"event store on this machine", []string{"EVENTSTORE_URL=esdb://127.0.0.1:2113?tls=false"}, nil},
		{"payments of no environment", []string{"PAYMENT_ENV="}, []string{"PAYMENT_ENV"}},
		{"a clock that moves", []string{"DEV_CLOCK=true", "EVENTSTORE_URL="}, []string{"DEV_CLOCK"}},
	}
}

func TestConfig_ProductionRefusesWhatIsUnsafe(t *testing.T) {
	t.Parallel()
	for _, c := range append(append(keys(), openDoors()...), []unsafe{
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
		{
			"callbacks at an address that the provider refuses",
			[]string{"PAYMENT_CALLBACK_URL=https://Executive.example/webhooks/mobile-money/stk"},
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
	}...) {
		if diff := cmp.Diff(c.want, faulty(t, sound(c.change...))); diff != "" {
			t.Errorf("%s: faults (-want +got):\n%s", c.name, diff)
		}
	}
}

// platformKey is the fault of a platform key, and signingKeyFault that of the other.
var (
	platformKey     = []string{"PLATFORM_ENCRYPTION_KEY"}
	signingKeyFault = []string{"JWT_SIGNING_KEY"}
)

// encoded writes a key as a variable has it.
func encoded(key []byte) string { return base64.StdEncoding.EncodeToString(key) }

// counting is a key of the bytes 0 to 31.
func counting() []byte {
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(i)
	}
	return key
}

func TestConfig_DevelopmentMayBeUnsafe(t *testing.T) {
	t.Parallel()
	if got := faulty(t, []string{
		"TRUSTED_PROXIES=0.0.0.0/0", "PLATFORM_ENCRYPTION_KEY=" + encoded(make([]byte, 32)), "DEV_CLOCK=true",
		"DATABASE_URL=postgres://u:p@db.example/x?sslmode=disable",
	}); got != nil {
		t.Errorf("faults %v", got)
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
	for _, secret := range []string{"hunter2", key32, signing32} {
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
		{"version", exitOK}, {"--help", exitOK}, {"help", exitOK}, {"help admin create", exitOK},
		{"help fly", exitUsage}, {"fly", exitUsage}, {"admin create", exitUsage},
		{"admin create --email a@b.test", exitFailed}, {"serve", exitFailed}, {"eventstore", exitFailed},
		{"demo", exitFailed}, {"simulate provider", exitFailed},
		{"simulate handset --radius 127.0.0.1 --secret s", exitFailed}, {"simulate handset", exitUsage},
	} {
		var out, errs logBuffer
		p := program{environ: []string{"APP_ENV=production"}, out: &out, err: &errs}
		if got := p.run(t.Context(), strings.Fields(c.args)); got != c.want {
			t.Errorf("lastmile %s: exit code %d, want %d: %s", c.args, got, c.want, errs.String())
		}
	}
}

func TestVersion_SaysVersionCommitAndGo(t *testing.T) {
	t.Parallel()
	var out, errs logBuffer
	p := program{out: &out, err: &errs}
	if code := p.run(t.Context(), []string{"version"}); code != exitOK {
		t.Fatal(errs.String())
	}
	for _, part := range []string{"lastmile ", ", commit ", ", go1."} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in %q", part, out.String())
		}
	}
}

func TestHelp_ExplainsACommand(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"help": "admin create", "help admin create": "--email", "help serve": "--roles",
	} {
		var out, errs logBuffer
		p := program{out: &out, err: &errs}
		if code := p.run(t.Context(), strings.Fields(args)); code != exitOK || !strings.Contains(out.String(), want) {
			t.Errorf("%s: code %d, %s %s", args, code, out.String(), errs.String())
		}
	}
}

func TestConfig_MisspeltVariablesAreTold(t *testing.T) {
	t.Parallel()
	got := unknownVariables([]string{
		"PAYMENT_ENV=sandbox", "PAYMENT_ALLOWED_IP=x", "PAYMNET_SHORTCODE=1", "EVENTSTORE_URI=x", "DATABASE_TIMEOUT=1",
		"HTTP_PROXY=x", "PATH=/bin", "HOME=/", "LANG=C", "TRUSTED_PROXY=x", "http_addr=x", "TERM=xterm", "USER=u",
	})
	want := []string{
		"DATABASE_TIMEOUT is not a variable of this program",
		"EVENTSTORE_URI is not a variable of this program; is EVENTSTORE_URL meant?",
		"PAYMENT_ALLOWED_IP is not a variable of this program; is PAYMENT_ALLOWED_IPS meant?",
		"PAYMNET_SHORTCODE is not a variable of this program; is PAYMENT_SHORTCODE meant?",
		"TRUSTED_PROXY is not a variable of this program",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAdminCreate_ThePasswordComesFromTheStandardInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ argument, input, want, warned string }{
		{"", "a long passphrase\r\nmore", "a long passphrase", ""}, {"", " no end of line", " no end of line", ""},
		{"given so", "", "given so", "can be seen"},
	} {
		var errs logBuffer
		got, err := adminCreate{Password: c.argument}.password(t.Context(),
			program{in: strings.NewReader(c.input), err: &errs})
		if err != nil || got.Reveal() != c.want || !strings.Contains(errs.String(), c.warned) {
			t.Errorf("%q: %q, %v, told %q", c.input, got.Reveal(), err, errs.String())
		}
	}
	if _, err := (adminCreate{}).password(t.Context(), program{in: strings.NewReader("")}); err == nil {
		t.Error("an empty input is a password")
	}
}

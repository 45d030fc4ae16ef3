package null_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
)

func TestNull_TheZeroValueIsNilAndOthersComeBack(t *testing.T) {
	t.Parallel()
	empty := ""
	for name, absent := range map[string]bool{
		"text":           null.Of("") == nil,
		"id":             null.Of(id.User{}) == nil,
		"time":           null.Time(time.Time{}) == nil,
		"time in a zone": null.Time(time.Time{}.UTC()) == nil,
		"no text":        null.Text(nil) == nil,
		"empty text":     null.Text(&empty) == nil,
		"nil":            null.Zero[int](nil) == 0 && null.Or(nil, 7) == 7,
	} {
		if !absent {
			t.Errorf("%s: the zero value is not null", name)
		}
	}
	now, text, user := time.Unix(1, 0), "a", id.New[id.User]()
	if *null.Time(now) != now || *null.Of(text) != text || *null.Of(user) != user || *null.Text(&text) != text {
		t.Error("a value changed on its way")
	}
	if null.Zero(&text) != text || null.Or(&text, "b") != text {
		t.Error("the value behind a pointer is not what came back")
	}
}

package router

import "net/http"

// Trap is a refusal in the router's own words.
type Trap struct {
	Category int // of the API protocol; negative when the router gives none
	Message  string
	Status   int // of REST
}

// Error gives the words.
func (t *Trap) Error() string { return t.Message }

// refuse is a refusal of an argument or a state.
func refuse(message string) *Trap {
	return &Trap{Category: -1, Message: message, Status: http.StatusBadRequest}
}

// noItem is the refusal of an id or name that is not in the menu.
func noItem() *Trap { return &Trap{Category: 0, Message: "no such item", Status: http.StatusNotFound} }

// noPermission is the refusal of a user without the policy.
func noPermission() *Trap {
	return &Trap{Category: -1, Message: "not enough permissions (9)", Status: http.StatusInternalServerError}
}

// noMode is the refusal of the device mode.
func noMode() *Trap {
	return &Trap{Category: -1, Message: "failure: not allowed by device-mode", Status: http.StatusInternalServerError}
}

// mismatch is the refusal of a value that names nothing.
func mismatch(prop string) *Trap {
	return &Trap{Category: 1, Message: "input does not match any value of " + prop, Status: http.StatusBadRequest}
}

// badValue is the refusal of a value of a wrong form.
func badValue(prop string) *Trap {
	return &Trap{Category: 1, Message: "invalid value for argument " + prop, Status: http.StatusBadRequest}
}

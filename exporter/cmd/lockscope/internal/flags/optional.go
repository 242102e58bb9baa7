package flags

import "time"

// Optional is a flag for a duration without a default, since no number says what happens without it. Its zero value is
// ready for use.
type Optional struct {
	Value time.Duration
	Given bool
}

// Set implements pflag.Value.
func (o *Optional) Set(text string) error {
	d, err := ParseDuration(text)
	if err == nil {
		o.Value, o.Given = d, true
	}
	return err
}

// String implements pflag.Value.
func (o *Optional) String() string {
	if !o.Given {
		return ""
	}
	return o.Value.String()
}

// Type implements pflag.Value.
func (o *Optional) Type() string { return "duration" }

package live

// Sample takes one sample of the history of waits now.
var Sample = (*Board).sample

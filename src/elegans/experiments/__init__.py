"""What a run is: experiments as data, as text and as TOML, and one run of one."""

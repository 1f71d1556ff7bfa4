// Copies the address; where the browser refuses, shows it selected, to be copied by hand.
// The address follows what is asked for: a click waits for what runs, and for what was typed without Enter and sets off now.

const SAID = 2500;  // milliseconds

export default function ({ parentElement }) {
  const [button, said, field] = ["button", "span", "input"].map((tag) => parentElement.querySelector(`.copy-link ${tag}`));
  let typed = false;
  button.onpointerdown = () => { typed = typing(); };
  button.onclick = async () => {
    await settled(typed);
    typed = false;
    const copied = (await offered(location.href)) || selected(field, location.href);
    field.hidden = copied;
    if (!copied) field.select();
    said.textContent = copied ? "Copied" : "Select and copy it from here";
    clearTimeout(button.timer);
    button.timer = setTimeout(() => copied && (said.textContent = ""), SAID);
  };
}

async function offered(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;  // no clipboard without https, in some frames, or against the visitor's will
  }
}

function selected(field, text) {
  field.hidden = false;
  field.value = text;
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  }
}
